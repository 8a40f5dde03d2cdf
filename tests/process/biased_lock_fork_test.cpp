// The places of threads that own locks, in the child of a fork: nobody has one but who forked.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ebb::test
