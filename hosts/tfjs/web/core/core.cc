// The core as a page calls it: WebAssembly's functions take and give numbers, so every name and size
// crosses as a double (exact up to 2^53) or 32 bits. src/web/core.ts is the other side.
//
// One page, one context, one thread. What is watched is named by slots that JavaScript hands out, as
// in Node's addon; here the notices come from JavaScript too (`orphan`), because only it can see who
// has died.
//
//   numbers  `dims` of the next adopt, what `flush` ends, what `memory` reads
//   ended    slots that have ended here, for JavaScript to end in TensorFlow.js
//   text     what JavaScript wrote for the next call that takes text
//
// A function that can fail returns -1 (0 where it makes a name); `status` and `error` say why.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../addon/budget.hpp"
#include "../../addon/shared.hpp"
#include "ebb.h"

// Nanoseconds that the page's collector took; below 0: it did not run.
extern "C" __attribute__((import_module("ebb"), import_name("collect"))) double ebb_page_collect(
    std::uint32_t kind);
extern "C" __attribute__((import_module("ebb"), import_name("warn"))) void ebb_page_warn(
    const char* message);

#define EBB_PAGE(name) extern "C" __attribute__((used, export_name(#name)))

namespace {

using ebb::node::Budget;

constexpr std::size_t kNumbers = 512;
constexpr std::size_t kEnded = 4096;
// A page's minor collections see no deaths (src/web/pressure.ts), so there are none.
constexpr std::uint64_t kMajorStep = 64 << 20;

double g_numbers[kNumbers];
std::uint32_t g_ended[kEnded];
std::string g_text;
ebb_status g_status = EBB_OK;
ebb_context g_context = 0;
std::vector<ebb_handle> g_handles;             // by slot; 0: none
std::vector<std::uint32_t> g_backlog;          // slots that the core has ended
std::vector<ebb_handle> g_disposed, g_scoped;  // being flushed
std::uint32_t g_again_ms = 0;

bool ok(ebb_status status) {
  g_status = status;
  return status == EBB_OK;
}

std::uint64_t on_collect(void*, ebb_collection kind) {
  const double ns = ebb_page_collect(static_cast<std::uint32_t>(kind));
  return ns < 0 ? EBB_CANNOT_COLLECT : std::max<std::uint64_t>(static_cast<std::uint64_t>(ns), 1);
}

void on_end(void*, const ebb_ended* ended, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto slot = static_cast<std::uint32_t>(ended[i].tag);
    g_handles[slot] = 0;
    g_backlog.push_back(slot);
  }
}

void on_warn(void*, const char* message) { ebb_page_warn(message); }

std::int32_t take_ended() {
  const std::size_t count = std::min(g_backlog.size(), kEnded);
  std::copy_n(g_backlog.end() - static_cast<std::ptrdiff_t>(count), count, g_ended);
  g_backlog.resize(g_backlog.size() - count);
  return static_cast<std::int32_t>(count);
}

std::int32_t give_ended(ebb_status status) { return ok(status) ? take_ended() : -1; }

std::uint64_t whole(double value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

ebb_handle handle_of(std::uint32_t slot) { return slot < g_handles.size() ? g_handles[slot] : 0; }

}  // namespace

// ---- the boundary

EBB_PAGE(layout) std::uint32_t page_layout() { return ebb::node::kLayout; }
EBB_PAGE(numbers) double* page_numbers() { return g_numbers; }
EBB_PAGE(ended) std::uint32_t* page_ended() { return g_ended; }
EBB_PAGE(status) std::int32_t page_status() { return g_status; }
EBB_PAGE(error) const char* page_error() { return ebb_last_error(); }
EBB_PAGE(version) const char* page_version() { return ebb_version(); }

// Room for `bytes` of text and the zero behind it.
EBB_PAGE(text) char* page_text(std::uint32_t bytes) {
  g_text.assign(bytes, '\0');
  return g_text.data();
}

EBB_PAGE(open) std::int32_t page_open() {
  ebb_context_options options = EBB_INIT(ebb_context_options);
  options.name = "page";
  options.flags = EBB_CONTEXT_NO_MINOR;
  options.collect = on_collect;
  options.end = on_end;
  options.warn = on_warn;
  options.major_step = kMajorStep;
  options.name_bytes = 1 << 10;
  return ok(ebb_context_create(&options, &g_context)) ? 0 : -1;
}

// ---- tensors

EBB_PAGE(adopt)
std::int32_t page_adopt(std::uint32_t slot, double key, double bytes, std::uint32_t device,
                        std::uint32_t dtype, std::uint32_t site, std::uint32_t rank,
                        std::uint32_t watched) {
  std::int64_t dims[EBB_MAX_RANK];
  ebb_foreign_spec spec = EBB_INIT(ebb_foreign_spec);
  spec.device = device;
  spec.key = whole(key);
  spec.bytes = whole(bytes);
  spec.tag = slot;
  spec.dtype = dtype;
  spec.rank = rank;
  std::copy_n(g_numbers, std::min<std::uint32_t>(rank, EBB_MAX_RANK), dims);
  spec.dims = dims;
  spec.site = site;
  spec.flags = watched != 0 ? 0 : EBB_ADOPT_UNWATCHED;
  if (slot >= g_handles.size()) g_handles.resize(std::max<std::size_t>(64, std::size_t{slot} * 2));
  return ok(ebb_tensor_adopt(g_context, &spec, &g_handles[slot])) ? 0 : -1;
}

EBB_PAGE(rebook)
std::int32_t page_rebook(std::uint32_t slot, std::uint32_t device, double bytes) {
  return ok(ebb_tensor_rebook(g_context, handle_of(slot), device, whole(bytes))) ? 0 : -1;
}

// The first `count` of `numbers`: -1 - (slot * 2 + whether a scope ended it).
EBB_PAGE(flush) void page_flush(std::uint32_t count) {
  g_disposed.clear();
  g_scoped.clear();
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(count, kNumbers); ++i) {
    const auto entry = static_cast<std::uint32_t>(-1 - g_numbers[i]);
    const std::uint32_t slot = entry >> 1;
    if (const ebb_handle handle = handle_of(slot); handle != 0) {
      (entry & 1 ? g_scoped : g_disposed).push_back(handle);
      g_handles[slot] = 0;
    }
  }
  if (!g_disposed.empty())
    ebb_tensors_end(g_context, g_disposed.data(), g_disposed.size(), EBB_ENDED_DISPOSED);
  if (!g_scoped.empty())
    ebb_tensors_end(g_context, g_scoped.data(), g_scoped.size(), EBB_ENDED_REGION);
}

// The death notice; a slot that has ended does nothing.
EBB_PAGE(orphan) void page_orphan(std::uint32_t slot) {
  if (const ebb_handle handle = handle_of(slot); handle != 0) ebb_orphan(handle);
}

// ---- reclaim

EBB_PAGE(reclaim) void page_reclaim(std::uint32_t on) { ebb_reclaim_set(on != 0 ? 1 : 0); }
EBB_PAGE(reclaiming) std::int32_t page_reclaiming() { return ebb_reclaim_get(); }

EBB_PAGE(safe_point)
std::int32_t page_safe_point(std::uint32_t device, double upcoming, std::uint32_t scoped) {
  return give_ended(ebb_safe_point(g_context, device, whole(upcoming),
                                   scoped != 0 ? EBB_SAFE_POINT_SCOPED : 0, nullptr));
}

EBB_PAGE(idle) std::int32_t page_idle() {
  return give_ended(ebb_idle(g_context, &g_again_ms, nullptr));
}
EBB_PAGE(again_ms) std::uint32_t page_again_ms() { return g_again_ms; }

EBB_PAGE(collect) std::int32_t page_collect(std::uint32_t major, std::uint32_t rationed) {
  return give_ended(ebb_collect(g_context, major != 0 ? EBB_COLLECT_MAJOR : EBB_COLLECT_MINOR,
                                rationed != 0 ? 1 : 0, nullptr));
}

EBB_PAGE(make_room) std::int32_t page_make_room(std::uint32_t device, double bytes) {
  return give_ended(ebb_make_room(g_context, device, whole(bytes), nullptr));
}

EBB_PAGE(take_ended) std::int32_t page_take_ended() { return take_ended(); }

// ---- devices and budgets

// Named by `text`.
EBB_PAGE(device) std::uint32_t page_device(double otherwise) {
  ebb_device device = 0;
  return ok(Budget::of_process().open(g_text, whole(otherwise), &device)) ? device : 0;
}

EBB_PAGE(set_budget) std::int32_t page_set_budget(double bytes, std::uint32_t strict) {
  return ok(Budget::of_process().set(whole(bytes), strict != 0)) ? 0 : -1;
}

EBB_PAGE(budget) double page_budget() { return static_cast<double>(Budget::of_process().bytes()); }

// Of `text`.
EBB_PAGE(parse_bytes) double page_parse_bytes() {
  std::uint64_t bytes = 0;
  return ok(ebb_parse_bytes(g_text.c_str(), &bytes)) ? static_cast<double>(bytes) : -1;
}

// ---- the books

EBB_PAGE(read_memory) std::int32_t page_memory(std::uint32_t device) {
  ebb_memory books = EBB_INIT(ebb_memory);
  if (!ok(ebb_memory_read(g_context, device, &books))) return -1;
  constexpr std::size_t kCounters =
      (sizeof books - offsetof(ebb_memory, created)) / sizeof(std::uint64_t);
  static_assert(kCounters <= kNumbers);
  std::copy_n(&books.created, kCounters, g_numbers);
  return static_cast<std::int32_t>(kCounters);
}

EBB_PAGE(audit) std::int32_t page_audit() { return ok(ebb_audit()) ? 0 : -1; }

EBB_PAGE(trace) void page_trace(std::uint32_t on) {
  ok(ebb_trace_set(on != 0 ? EBB_TRACE_SITES : EBB_TRACE_OFF));
}

// Of `text`.
EBB_PAGE(site) std::uint32_t page_site() {
  ebb_site site = 0;
  return ok(ebb_site_intern(g_text.c_str(), &site)) ? site : 0;
}

// Null: `error` says why. The report is good until the next call that gives or takes text.
EBB_PAGE(report) const char* page_report(std::uint32_t top, std::uint32_t json) {
  ebb_report_options options = EBB_INIT(ebb_report_options);
  options.top = top;
  options.json = json != 0 ? 1 : 0;
  char* text = nullptr;
  if (!ok(ebb_report(g_context, &options, &text))) return nullptr;
  g_text = text;
  ebb_text_free(text);
  return g_text.c_str();
}
