#include "ebb/base/spin_lock.hpp"

#include <thread>

namespace ebb {
namespace {

constexpr int kSpinsBeforeYield = 64;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void SpinLock::lock_contended() noexcept {
  for (int spins = 0;; ++spins) {
    if (try_lock()) return;
    if (spins < kSpinsBeforeYield) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace ebb
