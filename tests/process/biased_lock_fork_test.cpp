// The places of threads that own locks, in the child of a fork: nobody has one but who forked.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

#include "memory/biased_lock.hpp"
#include "process/child.hpp"

namespace ebb::test {
namespace {

constexpr std::ptrdiff_t kThreads = 40;  // more than there are places

bool becomes_owner(BiasedLock& lock) {
  for (int i = 0; i < 3; ++i) const std::lock_guard guard(lock);
  return lock.is_owner();
}

// On a thread of its own, which has not asked for a place before it forks.
int fork_and_own() {
  int code = -1;
  std::jthread([&] {
    code = in_forked_child(10, [] {
      BiasedLock lock(1);
      return becomes_owner(lock) ? 0 : 1;
    });
  }).join();
  return code;
}

TEST(BiasedLockFork, AChildHasThePlacesOfThreadsThatItDoesNotHave) {
  if (!process_barrier()) GTEST_SKIP() << "no barrier, no owners";
  std::latch owned(kThreads + 1), forked(1);
  std::vector<std::jthread> threads;
  for (std::ptrdiff_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      BiasedLock lock(1);
      becomes_owner(lock);
      owned.arrive_and_wait();
      forked.wait();
    });
  }
  owned.arrive_and_wait();
  const int code = fork_and_own();
  forked.count_down();
  EXPECT_EQ(code, 0);
}

// Another thread may be about to end the ownership of the one that forks.
TEST(BiasedLockFork, AChildHasTheLockWhateverOthersWereDoing) {
  if (!process_barrier()) GTEST_SKIP() << "no barrier, no owners";
  BiasedLock lock(1);
  std::atomic<bool> stop = false;
  std::jthread other([&] {
    while (!stop) const std::lock_guard guard(lock);
  });
  constexpr int kForks = 200;
  int failed = 0;
  for (int i = 0; i < kForks && failed == 0; ++i) {
    for (std::uint32_t k = 0; k < 2 * BiasedLock::kFirstStreak; ++k)
      const std::lock_guard guard(lock);
    lock.lock_for_fork();
    failed = in_forked_child(10, [&] {
      lock.forget_waiters();
      lock.unlock();
      const std::lock_guard guard(lock);
      return 0;
    });
    lock.forget_streaks();  // owners come and go all the time
    lock.unlock();
  }
  stop = true;
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace ebb::test
