// EventRing: the last n events of one thread, readable from another while it writes.
//
// One writer. Each event is four atomic words, so a reader can at worst see a mixture of two
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

namespace ebb {

// What happened; the values above kUser are for the layers that share the ring.
enum class EventKind : std::uint16_t {
  kNone = 0,
  kAllocate = 1,  // pool: id = address, detail = stream
  kFree = 2,      // pool: id = address, detail = stream
  kUser = 16,
};

struct TraceEvent {
  std::uint64_t id = 0;  // address or handle
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;  // interned stack, 0 = unknown
  EventKind kind = EventKind::kNone;
  std::uint16_t detail = 0;  // reason or stream
  std::uint64_t time = 0;    // ns of the steady clock, coarse: read every kTimeEvery events
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};
static_assert(sizeof(TraceEvent) == 32);

class EventRing {
 public:
  static constexpr std::size_t kEvents = std::size_t{1} << 13;
  static constexpr std::uint64_t kTimeEvery = 64;

  EventRing() noexcept { read_clock(); }

  // Writer only. `event.time` is filled in here.
  void push(const TraceEvent& event) noexcept { push(event.id, event.bytes, pack(event)); }

  // The same, the rest of the event packed: three words stay in registers.
  void push(std::uint64_t id, std::uint64_t bytes, std::uint64_t rest) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    Slot& slot = slots_[head % kEvents];
    slot[0].store(id, std::memory_order_release);
    slot[1].store(bytes, std::memory_order_release);
    slot[2].store(rest, std::memory_order_release);
    slot[3].store(time_, std::memory_order_release);
    head_.store(head + 1, std::memory_order_release);
    if ((head + 1) % kTimeEvery == 0) [[unlikely]]
      read_clock();  // last, so that nothing has to be kept over the call
  }

  // By shifts, not by a copy of the struct: short stores read back as one word would stall.
  static std::uint64_t pack(const TraceEvent& event) noexcept {
    return event.site | std::uint64_t(event.kind) << 32 | std::uint64_t(event.detail) << 48;
  }

  // Any thread: the events still there, oldest first. With `since`, only those pushed from that
  // count on.
  std::vector<TraceEvent> snapshot(std::uint64_t since = 0) const;

  // Events ever pushed.
  std::uint64_t pushed() const noexcept { return head_.load(std::memory_order_acquire); }

 private:
  using Slot = std::array<std::atomic<std::uint64_t>, 4>;

  static TraceEvent unpack(const std::array<std::uint64_t, 4>& words) noexcept {
    return {.id = words[0],
            .bytes = words[1],
            .site = std::uint32_t(words[2]),
            .kind = EventKind(words[2] >> 32 & 0xFFFF),
            .detail = std::uint16_t(words[2] >> 48),
            .time = words[3]};
  }
  [[gnu::noinline]] void read_clock() noexcept;

  std::atomic<std::uint64_t> head_{0};
  std::uint64_t time_ = 0;
  alignas(64) std::array<Slot, kEvents> slots_{};
};

}  // namespace ebb
