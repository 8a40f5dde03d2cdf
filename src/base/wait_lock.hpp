// A lock for short critical sections that many threads may want: one atomic exchange to take, one
// store and one load to give back. A waiter spins for a moment, then sleeps until it is woken.
//
// Giving back does not order its store before its load, for that would cost as much as taking. So
// a waiter that is about to sleep says so and interrupts all threads of the process
// (base/process_barrier.hpp): whoever gives the lock back after that sees the waiter, and what was
// given back before that the waiter sees. Where the system has no such barrier, waiters yield
// instead.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb {

class WaitLock {
 public:
  void lock() noexcept {
    if (taken_.exchange(1, std::memory_order_acquire) == 0) [[likely]]
      return;
    lock_contended();
  }
  bool try_lock() noexcept {
    return taken_.load(std::memory_order_relaxed) == 0 &&
           taken_.exchange(1, std::memory_order_acquire) == 0;
  }
  void unlock() noexcept {
    taken_.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler keeps the order
    if (sleepers_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake_one();
  }
  // Between two parts of long work. Pre: the calling thread has the lock.
  void let_others_in() noexcept;
  // In the child of a fork, by the thread that holds it: those who waited for it are not there.
  void unlock_in_child() noexcept {
    sleepers_.store(0, std::memory_order_relaxed);
    taken_.store(0, std::memory_order_release);
  }

 private:
  void lock_contended() noexcept;
  void wake_one() noexcept;

  std::atomic<std::uint32_t> taken_{0};
  std::atomic<std::uint32_t> sleepers_{0};  // or about to
};

}  // namespace ebb
