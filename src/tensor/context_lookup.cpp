// From names to records, and what is said about names that have ended.
#include <mutex>

#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "ebb/tensor/context.hpp"
#include "memory/event_ring.hpp"
#include "tensor/context_body.hpp"

namespace ebb {
namespace {

std::string at_site(std::string_view verb, SiteId site) {
  const std::string_view frame = first_frame(SiteTable::instance().text(site));
  return frame.empty() ? std::string() : fmt::format(", {} at {}", verb, frame);
}

// What the event rings still know of a tensor's birth and end.
std::string traced_past(Handle handle) {
  std::string born, ended;
  for (const TraceEvent& event : trace::snapshot_of(handle)) {
    if (event.kind == kTensorBorn) born = at_site("made", event.site);
    if (event.kind == kTensorEnded) {
      ended = at_site("ended", event.site) + fmt::format(" ({})", name_of(Reason(event.detail)));
    }
  }
  return born + ended;
}

}  // namespace

void ContextBody::raise_ended(Lock& lock, std::string_view who) {
  refuse(lock, ErrorKind::kStaleHandle, "[{}] the context has ended", who);
}

void ContextBody::raise_stale(Lock& lock, Handle handle, std::string_view who) {
  std::string what;
  const std::string context = options_.name;
  const bool ended = handles_.has_ended(handle);
  if (const TensorRecord* slot = ended ? handles_.find_ended(handle) : nullptr) {
    what = fmt::format(" ({} {})", name_of(slot->dtype), dims_to_string(slot->shape()));
  }
  lock.unlock();
  if (ended) {
    raise(ErrorKind::kStaleHandle, "[{}] tensor {:#x}{} has ended{}", who, handle, what,
          trace::on() ? traced_past(handle) : std::string());
  }
  raise(ErrorKind::kStaleHandle, "[{}] {:#x} names no tensor of context \"{}\"", who, handle,
        context);
}

Region& ContextBody::region(Lock& lock, RegionId id, std::string_view who) {
  Region* region = id == 0 ? &regions_->root() : regions_->find(id);
  if (region != nullptr) [[likely]]
    return *region;
  const bool ended = regions_->has_ended(id);
  refuse(lock, ErrorKind::kStaleHandle, "[{}] region {:#x} {}", who, id,
         ended ? "has ended" : "names no region of this context");
}

Region& ContextBody::open_to(Lock& lock, RegionId id, std::string_view who) {
  Region& found = region(lock, id, who);
  if (!found.capped) [[likely]]
    return found;
  refuse(lock, ErrorKind::kWrongState,
         "[{}] region {:#x} is capped: nothing more is attached to it", who, id);
}

void ContextBody::made_at(ContextId id, Handle handle, SiteId site) {
  Lock lock = enter(id, "made_at");
  live(lock, handle, "made_at").site = site;
  if (trace::on()) [[unlikely]]
    trace::record({.id = handle, .site = site, .kind = kTensorMadeAt});
}

TensorInfo ContextBody::describe(ContextId id, Handle handle) {
  Lock lock = enter(id, "describe");
  const TensorRecord& record = live(lock, handle, "describe");
  const Storage& storage = *record.storage;
  TensorInfo info{.device = storage.device,
                  .dtype = record.dtype,
                  .rank = record.rank,
                  .dims = {},
                  .dense = !record.has(TensorRecord::kStrided),
                  .bytes = storage.bytes,
                  .key = storage.key,
                  .tag = storage.block ? 0 : record.tag,
                  .region = record.region->live() ? record.region->name() : 0,
                  .site = record.site,
                  .orphaned = HandleTable::is_noticed(record)};
  std::copy_n(record.dims.begin(), record.shape().size(), info.dims.begin());
  if (storage.block) {
    info.strides = info.dense ? dense_strides(Shape(record.shape())) : record.layout->strides;
    info.bytes = bytes_of(Shape(record.shape()), size_of(record.dtype));
  }
  return info;
}

}  // namespace ebb
