// A lock for critical sections of a few dozen nanoseconds: one atomic exchange to take, one store
// to give back. A waiter that has spun for a while sleeps, so that a preempted owner can finish and
// everybody gets a turn.
#pragma once

#include <atomic>

namespace ebb {

class SpinLock {
 public:
  void lock() noexcept {
    if (!taken_.exchange(true, std::memory_order_acquire)) [[likely]]
      return;
    lock_contended();
  }
  bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void lock_contended() noexcept;
  std::atomic<bool> taken_{false};
};

}  // namespace ebb
