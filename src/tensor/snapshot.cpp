// The snapshot: docs/snapshot.md, front to back.
//
// Records are copied under the context's lock a chunk at a time and written after it, so reading
// delays nobody for longer than a thousand records take, and its size does not depend on theirs.
#include "ebb/tensor/snapshot.hpp"

#include <chrono>
#include <mutex>
#include <vector>

#include "ebb/memory/trace.hpp"
#include "memory/clock.hpp"
#include "tensor/books_json.hpp"
#include "tensor/context_body.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/snapshot_file.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kVersion = 1;

std::string_view name_of(EventKind kind) {
  if (kind == EventKind::kAllocate) return "allocate";
  if (kind == EventKind::kFree) return "free";
  if (kind == kTensorBorn) return "born";
  if (kind == kTensorEnded) return "ended";
  if (kind == EventKind::kCommit) return "commit";
  if (kind == EventKind::kDecommit) return "decommit";
  return kind == kCollected ? "collected" : "other";
}

struct RegionRow {
  RegionId id, parent;
  SiteId label;
  std::uint32_t depth;
  std::uint64_t tensors, children;
  bool capped;
};

struct TensorRow {
  Handle handle;
  DeviceId device;
  DType dtype;
  std::uint8_t rank;
  std::array<std::int64_t, kMaxRank> dims;
  bool strided;
  Strides strides;
  std::uint64_t storage, bytes, key, tag;
  RegionId region;
  SiteId site;
  bool foreign, orphaned, unwatched, hold;
};

std::uint64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

class SnapshotWriter {
 public:
  explicit SnapshotWriter(SnapshotFile& file) : file_(file), json_(file.text()) {}

  void write() {
    json_.begin_object();
    head();
    contexts();
    sites();
    events();
    json_.end_object();
    file_.text() += '\n';
  }

 private:
  void head() {
    json_.member("format", "ebb-snapshot");
    json_.member("version", kVersion);
    json_.member("ebb", EBB_VERSION);
    json_.member("unix_ms", unix_ms());
    json_.member("steady_ns", steady_ns());
    json_.member("reclaim", reclaiming());
    json_.member("tracing", trace::on());
    begin("devices");
    write_devices(json_);
    begin("books");
    write_reading(json_, Context::total_memory());
  }

  void begin(std::string_view name) {
    json_.new_line();
    json_.key(name);
  }

  void contexts() {
    // Contexts are never destroyed; one that is recycled meanwhile is found empty.
    std::vector<ContextBody*> all;
    ContextRegistry::instance().for_each([&](ContextBody& context) { all.push_back(&context); });
    begin("contexts");
    json_.begin_array();
    for (ContextBody* context : all) write_context(*context);
    json_.end_array();
  }

  void write_context(ContextBody& context) {
    json_.new_line();
    json_.begin_object();
    MemoryReading reading;
    {
      std::unique_lock lock(context.lock_);
      const std::string name = context.options_.name;
      const ContextId id = context.id_;
      const bool open = !context.closed();
      reading = context.read(lock, nullptr);
      lock.unlock();
      json_.member("id", id);
      json_.member("name", std::string_view(name));
      json_.member("open", open);
    }
    json_.key("books");
    write_reading(json_, reading);
    regions(context);
    tensors(context, "tensors", false);
    tensors(context, "holds", true);
    json_.end_object();
  }

  void regions(ContextBody& context) {
    begin("regions");
    json_.begin_array();
    std::vector<RegionRow> rows;
    for (std::size_t c = 0; c < RegionTree::chunk_end(); ++c) {
      copy_regions(context, c, rows);
      for (const RegionRow& row : rows) write_row(row);
    }
    json_.end_array();
  }

  static void copy_regions(ContextBody& context, std::size_t chunk, std::vector<RegionRow>& rows) {
    rows.clear();
    rows.reserve(kChunkSlots);
    std::lock_guard guard(context.lock_);
    if (context.regions_ == nullptr) return;
    context.regions_->for_each_in(chunk, [&](const Region& region) {
      rows.push_back({.id = region.name(),
                      .parent = region.parent_name(),
                      .label = region.label,
                      .depth = region.depth,
                      .tensors = region.owned_count,
                      .children = region.child_count,
                      .capped = region.capped});
    });
  }

  void write_row(const RegionRow& row) {
    json_.new_line();
    json_.begin_object();
    json_.member("id", row.id);
    json_.member("parent", row.parent);
    json_.member("label", SiteTable::instance().text(row.label));
    json_.member("depth", row.depth);
    json_.member("tensors", row.tensors);
    json_.member("children", row.children);
    json_.member("capped", row.capped);
    json_.end_object();
    file_.flush_if_large();
  }

  void tensors(ContextBody& context, std::string_view name, bool holds) {
    begin(name);
    json_.begin_array();
    context.for_each_row<TensorRow>(holds, row_of, [&](const TensorRow& row) { write_row(row); });
    json_.end_array();
  }

  static TensorRow row_of(const TensorRecord& record) {
    const Storage& storage = *record.storage;
    const bool hold = record.has(TensorRecord::kHold);
    const Region* region = hold || !record.region->live() ? nullptr : record.region;
    return {
        .handle = record.name(),
        .device = storage.device->id(),
        .dtype = record.dtype,
        .rank = record.rank,
        .dims = record.dims,
        .strided = !hold && record.has(TensorRecord::kStrided),
        .strides = !hold && record.has(TensorRecord::kStrided) ? record.layout->strides : Strides{},
        .storage = reinterpret_cast<std::uintptr_t>(&storage),
        .bytes = storage.bytes,
        .key = storage.key,
        .tag = storage.foreign() ? record.tag : record.byte_offset(),
        .region = region == nullptr ? 0 : region->name(),
        .site = record.site,
        .foreign = storage.foreign(),
        .orphaned = HandleTable::is_noticed(record),
        .unwatched = record.has(TensorRecord::kUnwatched),
        .hold = hold};
  }

  void write_row(const TensorRow& row) {
    json_.new_line();
    json_.begin_object();
    json_.member(row.hold ? "hold" : "handle", row.handle);
    json_.member("device", row.device);
    json_.member("storage", row.storage);
    json_.member("bytes", row.bytes);
    if (!row.hold) write_tensor_fields(row);
    json_.end_object();
    file_.flush_if_large();
  }

  void write_tensor_fields(const TensorRow& row) {
    json_.member("dtype", ebb::name_of(row.dtype));
    json_.member("rank", row.rank);
    json_.key("shape");
    json_.begin_array();
    for (std::size_t i = 0; i < std::min<std::size_t>(row.rank, kMaxRank); ++i) {
      json_.value(row.dims[i]);
    }
    json_.end_array();
    if (row.foreign) {
      json_.member("key", row.key);
      json_.member("tag", row.tag);
    } else {
      json_.member("offset", row.tag);
      if (row.strided) write_strides(row);
    }
    json_.member("site", row.site);
    json_.member("region", row.region);
    json_.member("orphaned", row.orphaned);
    json_.member("unwatched", row.unwatched);
  }

  void write_strides(const TensorRow& row) {
    json_.key("strides");
    json_.begin_array();
    for (std::size_t i = 0; i < row.rank; ++i) json_.value(row.strides[i]);
    json_.end_array();
  }

  void sites() {
    begin("sites");
    json_.begin_array();
    const std::size_t count = SiteTable::instance().size();
    for (SiteId site = 1; site <= count; ++site) {
      json_.new_line();
      json_.begin_object();
      json_.member("site", site);
      json_.member("text", SiteTable::instance().text(site));
      json_.end_object();
      file_.flush_if_large();
    }
    json_.end_array();
  }

  void events() {
    begin("events");
    json_.begin_array();
    for (const TraceEvent& event : trace::snapshot()) {
      json_.new_line();
      json_.begin_object();
      json_.member("kind", name_of(event.kind));
      json_.member("steady_ns", event.time);
      json_.member("id", event.id);
      json_.member("bytes", event.bytes);
      json_.member("site", event.site);
      json_.member("detail", event.detail);
      json_.end_object();
      file_.flush_if_large();
    }
    json_.end_array();
  }

  SnapshotFile& file_;
  JsonWriter json_;
};

void write_snapshot(const std::string& path) {
  SnapshotFile file(path);
  SnapshotWriter(file).write();
  file.publish();
}

}  // namespace ebb
