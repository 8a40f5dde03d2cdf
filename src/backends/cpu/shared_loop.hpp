// A loop that several threads take parts of, one by one.
//
// Its own thread offers it, takes parts until none is left, and waits until all have ended: for parts that
// others have taken, never for somebody to come. It takes the first that is left and the others the last,
// so that in the next loop over the same memory each finds its half in its cache.
//
// Which parts are left is one word, with the number of the loop: whoever has looked at a loop that is over
// meanwhile takes nothing of the next, whose body it has not read.
#pragma once

#include <cstdint>

#include "ebb/base/atomic.hpp"

namespace ebb::cpu {

class SharedLoop {
 public:
  // Part `index` of `count`. Must not throw, make tensors or offer a loop.
  using Body = void (*)(void* data, int index, int count);
  static constexpr int kMostParts = 0xFFFF;
  enum class Whose : std::uint8_t { kOwn, kAnothers };

  // Pre: the one before has ended.
  void offer(int parts, Body body, void* data) noexcept {
    const std::uint32_t number = Left(left_.load(std::memory_order_relaxed)).loop + 1;
    body_.store(body, std::memory_order_relaxed);
    data_.store(data, std::memory_order_relaxed);
    parts_.store(parts, std::memory_order_relaxed);
    ended_.store(0, std::memory_order_relaxed);
    left_.store(Left(number, parts).word(), std::memory_order_release);
  }
  // Does one part; false: none is left.
  bool take(Whose whose) noexcept {
    std::uint64_t word = left_.load(std::memory_order_acquire);
    for (;;) {
      Left left(word);
      if (left.is_empty()) return false;
      // Of that loop, if the exchange succeeds.
      const Body body = body_.load(std::memory_order_relaxed);
      void* const data = data_.load(std::memory_order_relaxed);
      const int parts = parts_.load(std::memory_order_relaxed);
      const int index = left.take(whose);
      if (!left_.compare_exchange_weak(word, left.word(), std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
        continue;
      }
      body(data, index, parts);
      ended_.fetch_add(1, std::memory_order_release);
      return true;
    }
  }
  bool has_parts() const noexcept {
    return !Left(left_.load(std::memory_order_relaxed)).is_empty();
  }
  // By its own thread.
  bool has_ended() const noexcept {
    return ended_.load(std::memory_order_acquire) == parts_.load(std::memory_order_relaxed);
  }

 private:
  // Parts [first, end) of a loop.
  struct Left {
    std::uint32_t loop;
    int first, end;

    explicit constexpr Left(std::uint64_t word) noexcept
        : loop(static_cast<std::uint32_t>(word >> 32)),
          first(static_cast<int>(word >> 16 & kMostParts)),
          end(static_cast<int>(word & kMostParts)) {}
    constexpr Left(std::uint32_t number, int parts) noexcept : loop(number), first(0), end(parts) {}

    constexpr bool is_empty() const noexcept { return first >= end; }
    constexpr int take(Whose whose) noexcept { return whose == Whose::kOwn ? first++ : --end; }
    constexpr std::uint64_t word() const noexcept {
      return std::uint64_t{loop} << 32 | static_cast<std::uint64_t>(first) << 16 |
             static_cast<std::uint64_t>(end);
    }
  };

  alignas(64) atomic<std::uint64_t> left_{0};
  alignas(64) atomic<int> ended_{0};
  alignas(64) atomic<Body> body_{nullptr};
  atomic<void*> data_{nullptr};
  atomic<int> parts_{0};
};

}  // namespace ebb::cpu
