// Adaptors: heaps over a heap. Each adds one thing and passes everything else on, so that they
// stack:
//
//   SystemHeap memory;
//   LimitHeap limited(memory, 1 << 30);
//   RecordingHeap heap(limited);
//   Pool pool(heap);
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <vector>

#include "ebb/memory/heap.hpp"

namespace ebb {

// Passes every call on. The base of the adaptors.
class HeapAdaptor : public Heap {
 public:
  // `below` must outlive the adaptor.
  explicit HeapAdaptor(Heap& below) : below_(below) {}

  HeapTraits traits() const noexcept override { return below_.traits(); }
  std::byte* reserve(std::size_t bytes) noexcept override { return below_.reserve(bytes); }
  void unreserve(std::byte* base, std::size_t bytes) noexcept override {
    below_.unreserve(base, bytes);
  }
  bool commit(std::byte* base, std::size_t bytes) noexcept override {
    return below_.commit(base, bytes);
  }
  void decommit(std::byte* base, std::size_t bytes) noexcept override {
    below_.decommit(base, bytes);
  }
  StreamId create_stream() override { return below_.create_stream(); }
  void destroy_stream(StreamId stream) noexcept override { below_.destroy_stream(stream); }
  Ticket submitted(StreamId stream) const noexcept override { return below_.submitted(stream); }
  std::optional<Event> record(StreamId stream) noexcept override { return below_.record(stream); }
  bool done(Event event) noexcept override { return below_.done(event); }
  void wait(Event event) noexcept override { below_.wait(event); }
  void order(StreamId stream, Event event) noexcept override { below_.order(stream, event); }
  DeviceLink* link() noexcept override { return below_.link(); }

 protected:
  Heap& below() const noexcept { return below_; }

 private:
  Heap& below_;
};

// A budget on committed bytes. The limit may be changed at any time; lowering it under what is
// committed takes nothing away, it only refuses more.
class LimitHeap final : public HeapAdaptor {
 public:
  // `device` is what recordings call it.
  explicit LimitHeap(Heap& below, std::size_t limit = std::numeric_limits<std::size_t>::max(),
                     std::uint8_t device = 0)
      : HeapAdaptor(below), limit_(limit), device_(device) {}

  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  void decommit(std::byte* base, std::size_t bytes) noexcept override;

  void set_limit(std::size_t bytes) noexcept { limit_.store(bytes, std::memory_order_relaxed); }
  std::size_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  std::size_t committed() const noexcept { return committed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> committed_{0};
  const std::uint8_t device_;
};

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

}  // namespace ebb
