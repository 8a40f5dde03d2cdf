// The books: readings, audit, tracing, reports, snapshots.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "capi/names.hpp"
#include "capi/sized.hpp"
#include "ebb/memory/site_table.hpp"
#include "ebb/memory/trace.hpp"
#include "ebb/tensor/report.hpp"
#include "ebb/tensor/snapshot.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

constexpr std::size_t at(Reason reason) { return static_cast<std::size_t>(reason); }

void write_books(const Books& books, ebb_memory& out) {
  out.created = books.created;
  out.live = books.live;
  out.disposed = books.ended[at(Reason::kDisposed)];
  out.region_ended = books.ended[at(Reason::kRegion)];
  out.reclaimed = books.ended[at(Reason::kReclaimed)];
  out.shutdown = books.ended[at(Reason::kShutdown)];
  out.unwatched = books.unwatched;
  out.peak_live = books.peak_live;
  out.created_bytes = books.created_storages.bytes;
  out.live_bytes = books.storages.bytes;
  out.disposed_bytes = books.ended_bytes[at(Reason::kDisposed)];
  out.region_ended_bytes = books.ended_bytes[at(Reason::kRegion)];
  out.reclaimed_bytes = books.ended_bytes[at(Reason::kReclaimed)];
  out.shutdown_bytes = books.ended_bytes[at(Reason::kShutdown)];
  out.peak_live_bytes = books.peak_bytes;
  out.storages = books.storages.count;
  out.held = books.held.count;
  out.held_bytes = books.held.bytes;
}

ebb_memory to_c(const MemoryReading& reading) {
  ebb_memory out{};
  write_books(reading.books, out);
  out.orphans = reading.orphans;
  out.peak_orphans = reading.peak_orphans;
  out.regions = reading.regions;
  out.collections_minor = reading.collections.minor;
  out.collections_major = reading.collections.major;
  out.collect_ns = reading.collections.total_ns;
  out.collect_max_ns = reading.collections.longest_ns;
  out.lag_last_ns = reading.lag_last_ns;
  out.lag_max_ns = reading.lag_max_ns;
  out.record_bytes = reading.record_bytes;
  return out;
}

// For ebb_text_free, on the other side of which there may be another C++ runtime.
char* copied(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

ReportOptions to_options(const ebb_report_options& given) {
  ReportOptions options;
  if (given.top != 0) options.top = given.top;
  options.json = given.json == 1;
  return options;
}

}  // namespace

extern "C" {

ebb_status ebb_memory_read(ebb_context context, ebb_device device, ebb_memory* memory) {
  return guarded([&] {
    const SizedOutput output(memory, "memory_read");
    const Device* on = optional_device(device);
    output.write(to_c(context == 0 ? Context::total_memory(on) : context_of(context).memory(on)));
  });
}

ebb_status ebb_audit(void) {
  return guarded([] { Context::audit(); });
}

ebb_status ebb_trace_set(uint32_t level) {
  return guarded([&] {
    if (level > EBB_TRACE_SITES) {
      raise(ErrorKind::kInvalidArgument, "[trace_set] level {} was given, 0 to {} are allowed",
            level, static_cast<int>(EBB_TRACE_SITES));
    }
    trace::set(level != EBB_TRACE_OFF);
  });
}

ebb_status ebb_site_intern(const char* text, ebb_site* site) {
  return guarded([&] {
    needed(text, "site_intern");
    needed(site, "site_intern") = SiteTable::instance().intern(text);
  });
}

ebb_status ebb_report(ebb_context context, const ebb_report_options* options, char** text) {
  return guarded([&] {
    char*& out = needed(text, "report");
    const ReportOptions wanted =
        options == nullptr ? ReportOptions() : to_options(read_sized(options, "report"));
    if (context == 0) {
      out = copied(report(nullptr, wanted));
    } else {
      const Context of = context_of(context);
      out = copied(report(&of, wanted));
    }
  });
}

ebb_status ebb_snapshot_write(const char* path) {
  return guarded([&] { write_snapshot(&needed(path, "snapshot_write")); });
}

}  // extern "C"
