// EventRing: the last n events of one thread, readable from another while it writes; and record(),
// which puts one into the ring of the calling thread.
//
// One writer. Each event is five atomic words, so a reader can at worst see a mixture of two
// events, and it throws those away: before the writer overwrites the slot of event i - n it has
// published head = i, so whatever is at or below head - n after the copy may be torn. (Words are
// stored with release and loaded with acquire: who sees a new word sees that head too. On x86 these
// are plain moves.)
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ebb/memory/trace.hpp"
#include "memory/ring_size.hpp"

namespace ebb {

class EventRing {
 public:
  static constexpr std::size_t kEvents = kRingEvents;
  static constexpr std::uint64_t kTimeEvery = 64;

  EventRing() noexcept { read_clock(); }

  // Writer only. `event.time` is filled in here.
  void push(const TraceEvent& event) noexcept {
    push(event.id, event.bytes, event.storage, pack(event));
  }

  // The same, the rest of the event packed: four words stay in registers.
  void push(std::uint64_t id, std::uint64_t bytes, std::uint64_t storage,
            std::uint64_t rest) noexcept {
    if (stale_.load(std::memory_order_relaxed)) [[unlikely]]
      read_clock();
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    Slot& slot = slots_[head % kEvents];
    slot[0].store(id, std::memory_order_release);
    slot[1].store(bytes, std::memory_order_release);
    slot[2].store(storage, std::memory_order_release);
    slot[3].store(rest, std::memory_order_release);
    slot[4].store(time_, std::memory_order_release);
    head_.store(head + 1, std::memory_order_release);
    if ((head + 1) % kTimeEvery == 0) [[unlikely]]
      read_clock();  // last, so that nothing has to be kept over the call
  }

  // By shifts, not by a copy of the struct: short stores read back as one word would stall.
  static std::uint64_t pack(const TraceEvent& event) noexcept {
    return event.site | std::uint64_t(event.kind) << 32 | std::uint64_t(event.detail) << 40 |
           std::uint64_t(event.device) << 48 | std::uint64_t(event.flags) << 56;
  }

  // Any thread: the events still there, oldest first. With `since`, only those pushed from that
  // count on.
  std::vector<TraceEvent> snapshot(std::uint64_t since = 0) const;

  // Any thread: appends those of one name, from `since` on.
  void read_of(std::uint64_t id, std::uint64_t since, std::vector<TraceEvent>& events) const;

  // Any thread: appends what was pushed from `since` on and is still there, and returns how many
  // were pushed by then: the next `since`. What was overwritten before it could be read is added to
  // `lost`. The next event has a fresh time.
  std::uint64_t read(std::uint64_t since, std::vector<TraceEvent>& events,
                     std::uint64_t& lost) const;

  // Events ever pushed.
  std::uint64_t pushed() const noexcept { return head_.load(std::memory_order_acquire); }

 private:
  static constexpr std::size_t kWords = 5;
  using Slot = std::array<std::atomic<std::uint64_t>, kWords>;

  // The first event from `since` on that is still there; below it: overwritten, or never asked for.
  static std::uint64_t first_of(std::uint64_t since, std::uint64_t head) noexcept;
  TraceEvent event(std::uint64_t count) const noexcept;
  static TraceEvent unpack(const std::array<std::uint64_t, kWords>& words) noexcept {
    return {.id = words[0],
            .bytes = words[1],
            .storage = words[2],
            .site = std::uint32_t(words[3]),
            .kind = EventKind(words[3] >> 32 & 0xFF),
            .detail = std::uint8_t(words[3] >> 40),
            .device = std::uint8_t(words[3] >> 48),
            .flags = std::uint8_t(words[3] >> 56),
            .time = words[4]};
  }
  [[gnu::noinline]] void read_clock() noexcept;

  std::atomic<std::uint64_t> head_{0};
  mutable std::atomic<bool> stale_{false};  // set by readers: so late an event has another time
  std::uint64_t time_ = 0;
  alignas(64) std::array<Slot, kEvents> slots_{};
};

namespace trace {
namespace detail {
// The calling thread's ring, made at its first event.
extern constinit thread_local EventRing* ring;
// Makes the ring; where there is no memory for one, the event is lost.
void record_first(const TraceEvent& event) noexcept;
}  // namespace detail

// Records whether tracing is on or not; callers ask on() first.
inline void record(const TraceEvent& event) noexcept {
  EventRing* ring = detail::ring;
  if (ring == nullptr) [[unlikely]]
    return detail::record_first(event);
  ring->push(event);
}

}  // namespace trace
}  // namespace ebb
