// A loop over items that several threads take parts of, one by one.
//
// Its own thread begins it with the first part, takes others until none is left, and waits until all have ended:
// for parts that others have taken, never for somebody to come. It takes the first that is left and the others
// the last, so that in the next loop over the same memory each finds its half in its cache; in a loop that is
// turned, the other way round.
//
// Which parts are left is one word, with the number of the loop: whoever has looked at a loop that is over
// meanwhile takes nothing of the next, whose body it has not read. All that a helper reads lies with that word in one
// line of the caches, and its own thread writes there only to begin a loop and to take parts: a loop of
// 300 ns is worth sharing.
#pragma once

#include <cstdint>

#include "ebb/base/atomic.hpp"

namespace ebb::cpu {

class SharedLoop {
 public:
  // Items [begin, end). Must not throw, make tensors or begin a loop.
  using Body = void (*)(void* data, std::int64_t begin, std::int64_t end);
  struct Work {
    Body body;
    void* data;
    std::int64_t items;
    int parts;  // at least 1
    bool is_turned = false;
  };
  static constexpr int kMostParts = 0xFFFF;

  // By its own thread, which makes the first part here.
  // Pre: the one before has ended.
  void begin(const Work& work) noexcept {
    const std::uint32_t number = Left(left_.load(std::memory_order_relaxed)).loop + 1;
    body_.store(work.body, std::memory_order_relaxed);
    data_.store(work.data, std::memory_order_relaxed);
    items_.store(work.items, std::memory_order_relaxed);
    parts_.store(work.is_turned ? -work.parts : work.parts, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    left_.store(Left(number, work.parts).word(), std::memory_order_release);
    others_ = work.parts - 1;
    make(work, 0);
  }
  // By its own thread. Makes one more part; false: none is left.
  bool take() noexcept {
    const bool took = take(Whose::kOwn);
    if (took) --others_;
    return took;
  }
  // By another.
  bool help() noexcept {
    const bool took = take(Whose::kAnothers);
    if (took) ended_.fetch_add(1, std::memory_order_release);
    return took;
  }
  bool has_parts() const noexcept {
    return !Left(left_.load(std::memory_order_relaxed)).is_empty();
  }
  // By its own thread, when no part is left. How many parts others have taken; whether these have ended.
  int others() const noexcept { return others_; }
  bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire) == others_; }

 private:
  enum class Whose : std::uint8_t { kOwn, kAnothers };

  // Parts [first, end) of a loop.
  struct Left {
    std::uint32_t loop;
    int first, end;

    explicit constexpr Left(std::uint64_t word) noexcept
        : loop(static_cast<std::uint32_t>(word >> 32)),
          first(static_cast<int>(word >> 16 & kMostParts)),
          end(static_cast<int>(word & kMostParts)) {}
    // The first is its own thread's.
    constexpr Left(std::uint32_t number, int parts) noexcept : loop(number), first(1), end(parts) {}

    constexpr bool is_empty() const noexcept { return first >= end; }
    constexpr int take(Whose whose) noexcept { return whose == Whose::kOwn ? first++ : --end; }
    constexpr std::uint64_t word() const noexcept {
      return std::uint64_t{loop} << 32 | static_cast<std::uint64_t>(first) << 16 |
             static_cast<std::uint64_t>(end);
    }
  };

  static void make(const Work& work, int part) noexcept {
    const int index = work.is_turned ? work.parts - 1 - part : part;
    const std::int64_t begin = work.items * index / work.parts;
    const std::int64_t end = work.items * (index + 1) / work.parts;
    if (begin < end) work.body(work.data, begin, end);
  }
  Work work() const noexcept {
    const int parts = parts_.load(std::memory_order_relaxed);
    return {body_.load(std::memory_order_relaxed), data_.load(std::memory_order_relaxed),
            items_.load(std::memory_order_relaxed), parts < 0 ? -parts : parts, parts < 0};
  }

  bool take(Whose whose) noexcept {
    std::uint64_t word = left_.load(std::memory_order_acquire);
    for (;;) {
      Left left(word);
      if (left.is_empty()) return false;
      const Work now = work();  // of that loop, if the exchange succeeds
      const int part = left.take(whose);
      if (left_.compare_exchange_weak(word, left.word(), std::memory_order_acq_rel,
                                      std::memory_order_acquire)) {
        make(now, part);
        return true;
      }
    }
  }

  alignas(64) atomic<std::uint64_t> left_{0};
  atomic<Body> body_{nullptr};
  atomic<void*> data_{nullptr};
  atomic<std::int64_t> items_{0};
  atomic<int> parts_{1};              // negative: it is turned
  alignas(64) atomic<int> ended_{0};  // of those that others have taken
  alignas(64) int others_ = 0;        // parts that its own thread has not taken
};

}  // namespace ebb::cpu
