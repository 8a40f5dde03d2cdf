#include "ebb/base/error.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

#include "ebb/base/check.hpp"
#include "ebb/base/spin_lock.hpp"
#include "support/expect_error.hpp"

namespace ebb {
namespace {

TEST(Error, CarriesItsKindAndMessage) {
  EXPECT_ERROR(raise(ErrorKind::kUnsupported, "[{}] {} things", "who", 3), kUnsupported,
               "[who] 3 things");
}

TEST(Error, OutOfMemoryStandsApart) {
  const OutOfMemory error("[make] full");
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_STREQ(error.what(), "[make] full");
  const Error& base = error;
  EXPECT_NE(dynamic_cast<const OutOfMemory*>(&base), nullptr);
}

TEST(CheckDeathTest, ABrokenInvariantSaysWhatAndWhere) {
  EXPECT_DEATH(EBB_CHECK(1 + 1 == 3), "1 \\+ 1 == 3.*error_test.cpp");
}

TEST(SpinLock, LetsOneInAtATime) {
  SpinLock lock;
  std::uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        std::lock_guard guard(lock);
        ++count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, 20000u);
}

TEST(SpinLock, TryLockSaysWhetherItIsTaken) {
  SpinLock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace ebb
