#include "ebb/memory/heap_adaptors.hpp"

#include "ebb/memory/trace.hpp"

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

void FaultHeap::fail_at(std::uint64_t n, bool and_later) noexcept {
  fail_at_.store(0);
  points_.store(0);
  faults_.store(0);
  and_later_.store(and_later);
  fail_at_.store(n);
}

bool FaultHeap::fails() noexcept {
  const std::uint64_t point = points_.fetch_add(1) + 1;
  const std::uint64_t target = fail_at_.load();
  if (target == 0 || point < target || (point > target && !and_later_.load())) return false;
  faults_.fetch_add(1);
  return true;
}

std::byte* FaultHeap::reserve(std::size_t bytes) noexcept {
  return fails() ? nullptr : below().reserve(bytes);
}

bool FaultHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  return !fails() && below().commit(base, bytes);
}

std::optional<Event> FaultHeap::record(StreamId stream) noexcept {
  return fails() ? std::nullopt : below().record(stream);
}

std::byte* RecordingHeap::reserve(std::size_t bytes) noexcept {
  std::byte* base = below().reserve(bytes);
  note({Call::kReserve, base, bytes, {}, base != nullptr});
  return base;
}

void RecordingHeap::unreserve(std::byte* base, std::size_t bytes) noexcept {
  below().unreserve(base, bytes);
  note({Call::kUnreserve, base, bytes, {}, true});
}

bool RecordingHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  const bool succeeded = below().commit(base, bytes);
  if (succeeded) add_committed(bytes);
  note({Call::kCommit, base, bytes, {}, succeeded});
  return succeeded;
}

void RecordingHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  below().decommit(base, bytes);
  committed_.fetch_sub(bytes);
  note({Call::kDecommit, base, bytes, {}, true});
}

std::optional<Event> RecordingHeap::record(StreamId stream) noexcept {
  const std::optional<Event> event = below().record(stream);
  note({Call::kRecord, nullptr, 0, event.value_or(Event{stream, 0}), event.has_value()});
  return event;
}

bool RecordingHeap::done(Event event) noexcept {
  const bool done = below().done(event);
  note({Call::kDone, nullptr, 0, event, done});
  return done;
}

void RecordingHeap::wait(Event event) noexcept {
  below().wait(event);
  note({Call::kWait, nullptr, 0, event, true});
}

void RecordingHeap::order(StreamId stream, Event event) noexcept {
  below().order(stream, event);
  note({Call::kOrder, nullptr, 0, event, true});
}

std::uint64_t RecordingHeap::count(Call call) const noexcept {
  return counts_[std::size_t(call)].load(std::memory_order_relaxed);
}

std::uint64_t RecordingHeap::memory_calls() const noexcept {
  return count(Call::kReserve) + count(Call::kUnreserve) + count(Call::kCommit) +
         count(Call::kDecommit);
}

std::vector<RecordingHeap::Entry> RecordingHeap::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

void RecordingHeap::note(Entry entry) noexcept {
  counts_[std::size_t(entry.call)].fetch_add(1, std::memory_order_relaxed);
  if (!keep_entries_) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back(entry);
}

void RecordingHeap::add_committed(std::size_t bytes) noexcept {
  const std::size_t committed = committed_.fetch_add(bytes) + bytes;
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (committed > peak && !peak_.compare_exchange_weak(peak, committed)) {
  }
}

}  // namespace ebb
