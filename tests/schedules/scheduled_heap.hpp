// A heap for schedules: addresses of the program's own, and a count of what is committed.
#pragma once

#include "ebb/memory/heap.hpp"
#include "schedules/scheduled_std.hpp"

namespace ebb::schedules {

class CountingHeap final : public Heap {
 public:
  static constexpr std::size_t kGranule = 256 << 10;
  static constexpr std::size_t kSpan = 16 * kGranule;

  explicit CountingHeap(bool synchronous = true) noexcept : synchronous_(synchronous) {}

  HeapTraits traits() const noexcept override {
    return {.name = "counting",
            .alignment = kGranule,
            .granule = kGranule,
            .capacity = std::size_t{1} << 30,
            .preferred_span = kSpan,
            .synchronous = synchronous_};
  }
  std::byte* reserve(std::size_t bytes) noexcept override {
    return static_cast<std::byte*>(std::aligned_alloc(kGranule, bytes));
  }
  void unreserve(std::byte* base, std::size_t bytes) noexcept override {
    if (Schedule* const run = Schedule::current()) run->forget(base, bytes);
    std::free(base);
  }
  bool commit(std::byte*, std::size_t bytes) noexcept override {
    step();
    if (refusals > 0) {
      --refusals;
      return false;
    }
    committed += bytes;
    most = std::max(most, committed);
    step();
    return true;
  }
  void decommit(std::byte*, std::size_t bytes) noexcept override {
    step();
    committed -= bytes;
  }
  StreamId create_stream() override { return 1; }
  void destroy_stream(StreamId) noexcept override {}
  Ticket submitted(StreamId) const noexcept override { return 0; }
  std::optional<Event> record(StreamId stream) noexcept override { return Event{stream, 0}; }
  bool done(Event) noexcept override { return true; }
  void wait(Event) noexcept override {}
  void order(StreamId, Event) noexcept override {}

  // Threads take turns, so these need no care.
  std::size_t committed = 0, most = 0;
  int refusals = 0;  // of the next commits

 private:
  const bool synchronous_;
  static void step() {
    if (Schedule* const run = Schedule::current()) run->step();
  }
};

}  // namespace ebb::schedules
