#include "ebb/memory/heap_adaptors.hpp"

#include "ebb/memory/trace.hpp"
#include "memory/event_ring.hpp"

namespace ebb {
namespace {

void trace_range(EventKind kind, const std::byte* base, std::size_t bytes,
                 std::uint8_t device) noexcept {
  if (!trace::on()) return;
  trace::record({.id = reinterpret_cast<std::uint64_t>(base),
                 .bytes = bytes,
                 .kind = kind,
                 .device = device});
}

}  // namespace

// The bytes are counted before they are asked for, so that two threads cannot pass the limit
// together.
bool LimitHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  std::size_t committed = committed_.load(std::memory_order_relaxed);
  do {
    const std::size_t limit = this->limit();  // once: it may change meanwhile
    if (committed > limit || bytes > limit - committed) return false;
  } while (!committed_.compare_exchange_weak(committed, committed + bytes));
  if (below().commit(base, bytes)) {
    trace_range(EventKind::kCommit, base, bytes, device_);
    return true;
  }
  committed_.fetch_sub(bytes);
  return false;
}

void LimitHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  below().decommit(base, bytes);
  committed_.fetch_sub(bytes);
  trace_range(EventKind::kDecommit, base, bytes, device_);
}

}  // namespace ebb
