#include "base/wait_lock.hpp"

#include <thread>

#include "base/process_barrier.hpp"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ebb {
namespace {

constexpr int kSpins = 64;
constexpr int kYields = 8;  // an owner that lost its processor gets it back meanwhile

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

#if defined(__linux__)
void sleep_while_taken(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, nullptr, nullptr, 0);
}
void wake(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}
#else
void sleep_while_taken(std::atomic<std::uint32_t>&) noexcept { std::this_thread::yield(); }
void wake(std::atomic<std::uint32_t>&) noexcept {}
#endif

}  // namespace

void WaitLock::lock_contended() noexcept {
  for (int i = 0; i < kSpins + kYields; ++i) {
    if (try_lock()) return;
    i < kSpins ? pause() : std::this_thread::yield();
  }
  sleepers_.fetch_add(1, std::memory_order_relaxed);
  const bool seen = process_barrier();
  while (taken_.exchange(1, std::memory_order_acquire) != 0) {
    seen ? sleep_while_taken(taken_) : std::this_thread::yield();
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void WaitLock::wake_one() noexcept { wake(taken_); }

void WaitLock::let_others_in() noexcept {
  unlock();
  if (sleepers_.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
  lock();
}

}  // namespace ebb
