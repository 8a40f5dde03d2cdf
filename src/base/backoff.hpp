// How a thread waits for another that is about to finish something: a few looks, then naps that get
// longer, so that one that is not running can go on.
//
//   for (Backoff backoff; !done();)
//     if (!backoff.spin()) backoff.nap();
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace ebb {

class Backoff {
 public:
  // Between two looks: leaves the core to its other half.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  // Until the next look. False: there were enough looks, a nap is due.
  bool spin() noexcept {
    if (++looks_ % kSpins == 0) return false;
    pause();
    return true;
  }
  // `others` is how many sleep for the same thing.
  void nap(unsigned others = 0) noexcept {
    std::this_thread::sleep_for(std::max(nap_, std::min(others * kForEachOther, kLongestNap)));
    nap_ = std::min(2 * nap_, kLongestNap);
  }

 private:
  // Whoever is waited for and runs is done in less. Each more keeps two threads at work side by side
  // for longer, whose processors then take the same cache lines from each other.
  static constexpr int kSpins = 8;
  // Longer each time, by no more than was waited already: an owner that is not running may not run
  // for long. A thread that yields instead counts as having had its turn, so that where there are
  // many more threads than processors some never get the lock.
  static constexpr auto kFirstNap = std::chrono::microseconds(50);
  static constexpr auto kLongestNap = std::chrono::microseconds(8000);
  // In a crowd a thread wakes so often at most, whatever their number: whoever runs is left alone for
  // as long, and hardly any wake only to see that it is not their turn (docs/notes/core.md).
  static constexpr auto kForEachOther = std::chrono::microseconds(100);

  int looks_ = 0;
  std::chrono::microseconds nap_ = kFirstNap;
};

}  // namespace ebb
