#include "memory/biased_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ebb {
namespace {

void use(BiasedLock& lock, std::uint32_t times) {
  for (std::uint32_t i = 0; i < times; ++i) const std::lock_guard guard(lock);
}
void use_elsewhere(BiasedLock& lock, std::uint32_t times) {
  std::thread([&] { use(lock, times); }).join();
}

class BiasedLockOwners : public testing::Test {
 protected:
  void SetUp() override {
    if (!process_barrier()) GTEST_SKIP() << "no barrier, no owners";
  }
};

TEST_F(BiasedLockOwners, AThreadThatTakesItInARowIsOne) {
  BiasedLock lock;
  use(lock, BiasedLock::kFirstStreak);
  EXPECT_FALSE(lock.is_owner());
  use(lock, 1);
  EXPECT_TRUE(lock.is_owner());
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.is_owner());
}

TEST_F(BiasedLockOwners, AnotherThreadEndsThat) {
  BiasedLock lock;
  use(lock, 2 * BiasedLock::kFirstStreak);
  std::thread([&] {
    EXPECT_FALSE(lock.is_owner());
    use(lock, 1);
  }).join();
  EXPECT_FALSE(lock.is_owner());
  use(lock, 2 * BiasedLock::kFirstStreak);
  EXPECT_FALSE(lock.is_owner()) << "it did not last: the next streak is longer";
  use(lock, 4 * BiasedLock::kFirstStreak);
  EXPECT_TRUE(lock.is_owner());
}

TEST_F(BiasedLockOwners, OneThatWasWorthTheBarrierComesBackSooner) {
  BiasedLock lock(4 * BiasedLock::kFirstStreak);
  use(lock, 4 * BiasedLock::kFirstStreak + 1 + BiasedLock::kWorthIt);
  use_elsewhere(lock, 1);
  use(lock, BiasedLock::kFirstStreak + 1);
  EXPECT_TRUE(lock.is_owner());
}

TEST_F(BiasedLockOwners, WhoComesWaitsUntilTheOwnerIsOutside) {
  BiasedLock lock(1);
  use(lock, 3);
  ASSERT_TRUE(lock.is_owner());
  std::atomic<bool> entered{false};
  lock.lock();
  std::thread other([&] {
    const std::lock_guard guard(lock);
    entered = true;
  });
  while (lock.is_owner()) std::this_thread::yield();  // the other has begun to end that
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(entered);
  lock.unlock();
  other.join();
  EXPECT_TRUE(entered);
}

TEST_F(BiasedLockOwners, AThreadThatEndsLeavesItsLocksUsable) {
  std::vector<std::unique_ptr<BiasedLock>> locks(100);
  for (auto& lock : locks) {
    lock = std::make_unique<BiasedLock>(1);
    std::thread([&] {
      use(*lock, 3);
      EXPECT_TRUE(lock->is_owner()) << "places are given out again";
    }).join();
  }
  for (auto& lock : locks) {
    use(*lock, 1);
    EXPECT_TRUE(lock->try_lock());
    lock->unlock();
  }
}

// A context that has ended leaves its lock to another, which other threads use.
TEST_F(BiasedLockOwners, WhatIsGuardedAnewHasOneSoon) {
  BiasedLock lock;
  use(lock, 2 * BiasedLock::kFirstStreak);
  ASSERT_TRUE(lock.is_owner());
  use_elsewhere(lock, 1);
  use(lock, 2 * BiasedLock::kFirstStreak);
  EXPECT_FALSE(lock.is_owner()) << "it takes longer after one that ended soon";
  {
    const std::lock_guard guard(lock);
    lock.forget_streaks();
  }
  use(lock, 2 * BiasedLock::kFirstStreak);
  EXPECT_TRUE(lock.is_owner());
}

// One that came when many others were there is an owner once they are gone.
TEST_F(BiasedLockOwners, AThreadThatFoundNoPlaceAsksAgain) {
  std::thread([] {
    constexpr int kMany = 100;
    std::latch placed(kMany + 1), asked(1);
    std::vector<std::thread> others;
    for (int i = 0; i < kMany; ++i) {
      others.emplace_back([&] {
        BiasedLock own(1);
        use(own, 3);
        placed.arrive_and_wait();
        asked.wait();
      });
    }
    placed.arrive_and_wait();
    BiasedLock lock(1);
    use(lock, 3);
    EXPECT_FALSE(lock.is_owner());
    asked.count_down();
    for (std::thread& each : others) each.join();
    use(lock, 3);
    EXPECT_TRUE(lock.is_owner());
  }).join();
}

TEST(BiasedLock, TryLockSaysWhetherItIsTaken) {
  BiasedLock lock(1);
  use(lock, 3);
  std::thread([&] {
    ASSERT_TRUE(lock.try_lock());
    std::thread([&] { EXPECT_FALSE(lock.try_lock()); }).join();
    lock.unlock();
  }).join();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(BiasedLock, ThereAreMoreThreadsThanPlaces) {
  std::vector<std::unique_ptr<BiasedLock>> locks(100);
  std::latch all(std::ssize(locks));
  std::vector<std::thread> threads;
  for (auto& lock : locks) {
    lock = std::make_unique<BiasedLock>(1);
    threads.emplace_back([&] {
      use(*lock, 1000);
      all.arrive_and_wait();
      use(*lock, 1000);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& lock : locks) use(*lock, 1);
}

// Owners come and go all the time: whoever has taken it twice in a row is one.
TEST(BiasedLock, LetsOneInAtATime) {
  for (int round = 0; round < 20; ++round) {
    BiasedLock lock(1);
    std::uint64_t count = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 10'000; ++i) {
          const std::lock_guard guard(lock);
          ++count;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 40'000u);
  }
}

}  // namespace
}  // namespace ebb
