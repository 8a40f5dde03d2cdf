#include "ebb/base/spin_lock.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ebb {
namespace {

// Whoever has it and runs gives it back in less. Each more keeps two threads at work side by side for
// longer, whose processors then take the same cache lines from each other.
constexpr int kSpins = 8;
// Longer each time, by no more than was waited already: an owner that is not running may not run for
// long. A thread that yields instead counts as having had its turn, so that where there are many more
// threads than processors some never get the lock. The longest decides what a crowd costs that only
// looks whether it is its turn (docs/notes/core.md).
constexpr auto kFirstNap = std::chrono::microseconds(50);
constexpr auto kLongestNap = std::chrono::microseconds(8000);

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void SpinLock::lock_contended() noexcept {
  for (auto nap = kFirstNap;; nap = std::min(2 * nap, kLongestNap)) {
    for (int spins = 0; spins < kSpins; ++spins) {
      if (try_lock()) return;
      pause();
    }
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace ebb
