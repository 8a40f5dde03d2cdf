// Adaptors: heaps over a heap. Each adds one thing and passes everything else on, so that they
// stack:
//
//   SystemHeap memory;
//   LimitHeap heap(memory, 1 << 30);
//   Pool pool(heap);
#pragma once

#include <atomic>
#include <limits>

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

}  // namespace ebb
