// A lock for critical sections of a few dozen nanoseconds: one atomic exchange to take, one store
// to give back. A waiter that has spun for a while sleeps, so that a preempted owner can finish and
// everybody gets a turn.
#pragma once

#include <atomic>
#include <cstdint>

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
  // In the child of a fork: whoever waited is not there.
  void forget_waiters() noexcept { asleep_.store(0, std::memory_order_relaxed); }

 private:
  void lock_contended() noexcept;
  std::atomic<bool> taken_{false};
  std::atomic<std::uint16_t> asleep_{0};  // of those that wait
};

}  // namespace ebb
