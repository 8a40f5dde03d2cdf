#include "base/wait_lock.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace ebb {
namespace {

std::chrono::nanoseconds processor_time_of_this_thread() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(WaitLock, OneAtATime) {
  WaitLock lock;
  std::uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 160000u);
}

TEST(WaitLock, TryingDoesNotWait) {
  WaitLock lock;
  ASSERT_TRUE(lock.try_lock());
  std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  ASSERT_TRUE(lock.try_lock());
  lock.unlock();
}

// Each waiter sleeps, and each is woken.
TEST(WaitLock, AWaiterSleepsUntilItIsWoken) {
  WaitLock lock;
  lock.lock();
  std::atomic<int> got{0};
  std::atomic<std::int64_t> spent{0};
  std::vector<std::thread> waiters;
  for (int t = 0; t < 4; ++t) {
    waiters.emplace_back([&] {
      lock.lock();
      spent += processor_time_of_this_thread().count();
      ++got;
      lock.unlock();
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(got, 0);
  lock.unlock();
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(got, 4);
  EXPECT_LT(std::chrono::nanoseconds(spent), std::chrono::milliseconds(50));
}

// A thread that takes it again at once would keep a sleeper out.
TEST(WaitLock, OthersAreLetIn) {
  WaitLock lock;
  std::atomic<bool> done{false};
  lock.lock();
  std::thread other([&] {
    const std::lock_guard guard(lock);
    done = true;
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done && std::chrono::steady_clock::now() < until) lock.let_others_in();
  lock.unlock();
  other.join();
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace ebb
