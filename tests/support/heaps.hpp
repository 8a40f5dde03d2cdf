// Heaps over a heap, for tests: one that fails on purpose, one that writes down what it was asked.
//
//   SystemHeap memory;
//   LimitHeap limited(memory, 1 << 30);
//   RecordingHeap heap(limited);
//   Pool pool(heap);
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "ebb/memory/heap_adaptors.hpp"

namespace ebb {

// Fails on purpose. Every call that may fail (reserve, commit, record) is a fault point, numbered
// from 1 in the order of calls.
class FaultHeap final : public HeapAdaptor {
 public:
  using HeapAdaptor::HeapAdaptor;

  std::byte* reserve(std::size_t bytes) noexcept override;
  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  std::optional<Event> record(StreamId stream) noexcept override;

  // Starts counting again, and fails fault point `n` (0: none); with `and_later`, all from it on.
  void fail_at(std::uint64_t n, bool and_later = false) noexcept;
  std::uint64_t fault_points() const noexcept { return points_.load(std::memory_order_relaxed); }
  std::uint64_t faults() const noexcept { return faults_.load(std::memory_order_relaxed); }

 private:
  bool fails() noexcept;

  std::atomic<std::uint64_t> fail_at_{0};
  std::atomic<bool> and_later_{false};
  std::atomic<std::uint64_t> points_{0};
  std::atomic<std::uint64_t> faults_{0};
};

// Writes down what was asked of the heap. Counts always; keeps the calls themselves on request.
class RecordingHeap final : public HeapAdaptor {
 public:
  enum class Call { kReserve, kUnreserve, kCommit, kDecommit, kRecord, kDone, kWait, kOrder };
  static constexpr std::size_t kCalls = 8;
  struct Entry {
    Call call;
    std::byte* base;
    std::size_t bytes;
    Event event;
    bool succeeded;
  };

  explicit RecordingHeap(Heap& below, bool keep_entries = false)
      : HeapAdaptor(below), keep_entries_(keep_entries) {}

  std::byte* reserve(std::size_t bytes) noexcept override;
  void unreserve(std::byte* base, std::size_t bytes) noexcept override;
  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  void decommit(std::byte* base, std::size_t bytes) noexcept override;
  std::optional<Event> record(StreamId stream) noexcept override;
  bool done(Event event) noexcept override;
  void wait(Event event) noexcept override;
  void order(StreamId stream, Event event) noexcept override;

  std::uint64_t count(Call call) const noexcept;
  std::uint64_t memory_calls() const noexcept;  // reserve, unreserve, commit and decommit
  std::size_t committed() const noexcept { return committed_.load(std::memory_order_relaxed); }
  std::size_t peak_committed() const noexcept { return peak_.load(std::memory_order_relaxed); }
  std::vector<Entry> entries() const;

 private:
  void note(Entry entry) noexcept;
  void add_committed(std::size_t bytes) noexcept;

  const bool keep_entries_;
  std::array<std::atomic<std::uint64_t>, kCalls> counts_{};
  std::atomic<std::size_t> committed_{0};
  std::atomic<std::size_t> peak_{0};
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // guarded by mutex_
};

inline void FaultHeap::fail_at(std::uint64_t n, bool and_later) noexcept {
  fail_at_.store(0);
  points_.store(0);
  faults_.store(0);
  and_later_.store(and_later);
  fail_at_.store(n);
}

inline bool FaultHeap::fails() noexcept {
  const std::uint64_t point = points_.fetch_add(1) + 1;
  const std::uint64_t target = fail_at_.load();
  if (target == 0 || point < target || (point > target && !and_later_.load())) return false;
  faults_.fetch_add(1);
  return true;
}

inline std::byte* FaultHeap::reserve(std::size_t bytes) noexcept {
  return fails() ? nullptr : below().reserve(bytes);
}

inline bool FaultHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  return !fails() && below().commit(base, bytes);
}

inline std::optional<Event> FaultHeap::record(StreamId stream) noexcept {
  return fails() ? std::nullopt : below().record(stream);
}

inline std::byte* RecordingHeap::reserve(std::size_t bytes) noexcept {
  std::byte* base = below().reserve(bytes);
  note({Call::kReserve, base, bytes, {}, base != nullptr});
  return base;
}

inline void RecordingHeap::unreserve(std::byte* base, std::size_t bytes) noexcept {
  below().unreserve(base, bytes);
  note({Call::kUnreserve, base, bytes, {}, true});
}

inline bool RecordingHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  const bool succeeded = below().commit(base, bytes);
  if (succeeded) add_committed(bytes);
  note({Call::kCommit, base, bytes, {}, succeeded});
  return succeeded;
}

inline void RecordingHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  below().decommit(base, bytes);
  committed_.fetch_sub(bytes);
  note({Call::kDecommit, base, bytes, {}, true});
}

inline std::optional<Event> RecordingHeap::record(StreamId stream) noexcept {
  const std::optional<Event> event = below().record(stream);
  note({Call::kRecord, nullptr, 0, event.value_or(Event{stream, 0}), event.has_value()});
  return event;
}

inline bool RecordingHeap::done(Event event) noexcept {
  const bool done = below().done(event);
  note({Call::kDone, nullptr, 0, event, done});
  return done;
}

inline void RecordingHeap::wait(Event event) noexcept {
  below().wait(event);
  note({Call::kWait, nullptr, 0, event, true});
}

inline void RecordingHeap::order(StreamId stream, Event event) noexcept {
  below().order(stream, event);
  note({Call::kOrder, nullptr, 0, event, true});
}

inline std::uint64_t RecordingHeap::count(Call call) const noexcept {
  return counts_[std::size_t(call)].load(std::memory_order_relaxed);
}

inline std::uint64_t RecordingHeap::memory_calls() const noexcept {
  return count(Call::kReserve) + count(Call::kUnreserve) + count(Call::kCommit) +
         count(Call::kDecommit);
}

inline std::vector<RecordingHeap::Entry> RecordingHeap::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_;
}

inline void RecordingHeap::note(Entry entry) noexcept {
  counts_[std::size_t(entry.call)].fetch_add(1, std::memory_order_relaxed);
  if (!keep_entries_) return;
  const std::lock_guard lock(mutex_);
  entries_.push_back(entry);
}

inline void RecordingHeap::add_committed(std::size_t bytes) noexcept {
  const std::size_t committed = committed_.fetch_add(bytes) + bytes;
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (committed > peak && !peak_.compare_exchange_weak(peak, committed)) {
  }
}

}  // namespace ebb
