#include "ebb/base/spin_lock.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace ebb {
namespace {

constexpr int kSpins = 16;  // whoever has it and runs gives it back in less
// Longer each time: an owner that is not running may not run for long. A thread that yields instead
// counts as having had its turn, so that where there are many more threads than processors some
// never get the lock.
constexpr auto kFirstNap = std::chrono::microseconds(50);
constexpr auto kLongestNap = std::chrono::microseconds(2000);

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
