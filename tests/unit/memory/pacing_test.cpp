// When growth, idle time and walks ask for a collection.
#include "ebb/memory/pacing.hpp"

#include <gtest/gtest.h>

namespace ebb {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kMegabyte = 1 << 20;

std::uint64_t clock_ns = 0;
std::uint64_t now() { return clock_ns; }

class GrowthPacingTest : public testing::Test {
 protected:
  GrowthPacingTest() { clock_ns = 1000 * kMillisecond; }
  void restart(std::uint64_t minor_step, std::uint64_t major_step) {
    pacing.restart({.minor_step = minor_step, .major_step = major_step, .now = &now});
  }
  // A collection that takes so long and leaves so much alive.
  void collect(Collection kind, std::uint64_t cost, std::uint64_t after) {
    const std::uint64_t start = clock_ns;
    clock_ns += cost;
    pacing.collected(kind, live, after, start, cost);
    live = after;
  }
  std::optional<Collection> due(std::uint64_t bytes, bool scoped = false) {
    live = bytes;
    return pacing.due(bytes, scoped);
  }
  GrowthPacing pacing;
  std::uint64_t live = 0;
};

TEST_F(GrowthPacingTest, WithoutStepsNothingIsEverDue) {
  restart(0, 0);
  EXPECT_EQ(due(std::uint64_t{1} << 40), std::nullopt);
}

TEST_F(GrowthPacingTest, AMinorCollectionIsDueEachStepOfGrowth) {
  restart(10 * kMegabyte, 0);
  EXPECT_EQ(due(10 * kMegabyte - 1), std::nullopt);
  EXPECT_EQ(due(10 * kMegabyte), Collection::kMinor);
  collect(Collection::kMinor, kMillisecond, 2 * kMegabyte);
  clock_ns += 1000 * kMillisecond;
  EXPECT_EQ(due(12 * kMegabyte - 1), std::nullopt);
  EXPECT_EQ(due(12 * kMegabyte), Collection::kMinor);
}

TEST_F(GrowthPacingTest, TheStepCountsFromWhereverLiveBytesFellTo) {
  restart(10 * kMegabyte, 0);
  collect(Collection::kMinor, kMillisecond, 100 * kMegabyte);
  clock_ns += 1000 * kMillisecond;
  EXPECT_EQ(due(5 * kMegabyte), std::nullopt);  // ended by hand
  EXPECT_EQ(due(15 * kMegabyte), Collection::kMinor);
}

TEST_F(GrowthPacingTest, MinorCollectionsThatPayMayTakeAQuarterOfTheTime) {
  restart(10 * kMegabyte, 0);
  live = 10 * kMegabyte;
  collect(Collection::kMinor, kMillisecond, 5 * kMegabyte);  // half a step came back
  clock_ns += 3 * kMillisecond - 1;
  EXPECT_EQ(due(20 * kMegabyte), std::nullopt);
  clock_ns += 1;
  EXPECT_EQ(due(20 * kMegabyte), Collection::kMinor);
}

TEST_F(GrowthPacingTest, MinorCollectionsInVainMayTakeAHundredth) {
  restart(10 * kMegabyte, 0);
  live = 10 * kMegabyte;
  collect(Collection::kMinor, kMillisecond, 5 * kMegabyte + 1);
  clock_ns += 99 * kMillisecond - 1;
  EXPECT_EQ(due(20 * kMegabyte), std::nullopt);
  clock_ns += 1;
  EXPECT_EQ(due(20 * kMegabyte), Collection::kMinor);
}

TEST_F(GrowthPacingTest, InAScopeSixteenTimesTheGrowthIsNeededAndThenItIsDue) {
  restart(10 * kMegabyte, 32 * kMegabyte);
  EXPECT_EQ(due(160 * kMegabyte - 1, true), std::nullopt);
  EXPECT_EQ(due(160 * kMegabyte, true), Collection::kMinor);
  collect(Collection::kMinor, 10 * kMillisecond, 160 * kMegabyte);
  EXPECT_EQ(due(512 * kMegabyte, true), std::nullopt);
  EXPECT_EQ(due(512 * kMegabyte + 1, true), Collection::kMajor);
}

TEST_F(GrowthPacingTest, AMajorCollectionIsDueWhenLiveBytesGrewByAStepAndByHalf) {
  restart(0, 32 * kMegabyte);
  EXPECT_EQ(due(32 * kMegabyte), std::nullopt);
  EXPECT_EQ(due(32 * kMegabyte + 1), Collection::kMajor);
  collect(Collection::kMajor, kMillisecond, 200 * kMegabyte);
  clock_ns += 1000 * kMillisecond;
  EXPECT_EQ(due(300 * kMegabyte), std::nullopt);
  EXPECT_EQ(due(300 * kMegabyte + 1), Collection::kMajor);
}

TEST_F(GrowthPacingTest, TheShareOfMajorCollectionsRisesWithTheGrowthToAQuarter) {
  const auto rest_at = [&](std::uint64_t growth_in_steps, bool paid) {
    restart(0, 32 * kMegabyte);
    live = 64 * kMegabyte;
    collect(Collection::kMajor, kMillisecond, paid ? 0 : 64 * kMegabyte);
    const std::uint64_t step = 32 * kMegabyte;
    const std::uint64_t from = clock_ns;
    const std::uint64_t low = paid ? 0 : 64 * kMegabyte;
    while (!due(low + growth_in_steps * step + 1)) clock_ns += kMillisecond / 10;
    return (clock_ns - from) / (kMillisecond / 10);
  };
  EXPECT_NEAR(static_cast<double>(rest_at(1, true)), 190, 1);    // 5%
  EXPECT_NEAR(static_cast<double>(rest_at(2, true)), 48, 1);     // a sixth
  EXPECT_NEAR(static_cast<double>(rest_at(10, true)), 30, 1);    // a quarter, and no more
  EXPECT_NEAR(static_cast<double>(rest_at(10, false)), 190, 1);  // it found little
}

// ---- an allowance

TEST(Allowance, IsBackAfterACollectionWhenThatHasTakenItsShare) {
  Allowance quarter(0.25);
  EXPECT_TRUE(quarter.left(1000)) << "nothing has been spent";
  quarter.spend(100, 1100);
  EXPECT_FALSE(quarter.left(1399));
  EXPECT_TRUE(quarter.left(1400));
}

TEST(Allowance, WhatIsLeftIsThereForALongOneUpToTwoOfThem) {
  Allowance quarter(0.25);
  quarter.spend(100, 1100);
  EXPECT_TRUE(quarter.left(1000000));  // 200 and no more
  quarter.spend(300, 1000300);
  EXPECT_FALSE(quarter.left(1000399));
  EXPECT_TRUE(quarter.left(1000400));
}

TEST(Allowance, OneCheapCollectionDoesNotTakeTheSavingsOfOthers) {
  Allowance quarter(0.25);
  quarter.spend(100, 1100);
  EXPECT_TRUE(quarter.left(1000000));
  quarter.spend(1, 1000001);  // half of 200 stays
  EXPECT_TRUE(quarter.left(1000001));
  quarter.spend(140, 1000141);
  EXPECT_FALSE(quarter.left(1000160));
  EXPECT_TRUE(quarter.left(1000161));
}

// ---- idle time

TEST(IdleLooksTest, ABusyProgramIsDrainedAndNowAndThenCollected) {
  using Act = IdleLooks::Look::Act;
  IdleLooks looks;
  int collected = 0;
  for (std::uint64_t births = 1; births <= 1000; ++births) {
    const IdleLooks::Look look = looks.look(births);
    EXPECT_TRUE(look.again);
    EXPECT_TRUE(look.act == Act::kDrain || look.act == Act::kCollectRationed);
    collected += look.act == Act::kCollectRationed ? 1 : 0;
  }
  EXPECT_EQ(collected, 10);
}

TEST(IdleLooksTest, AQuietLookBeginsTheBusyOnesAnew) {
  using Act = IdleLooks::Look::Act;
  IdleLooks looks;
  std::uint64_t births = 0;
  for (int i = 0; i < 60; ++i) EXPECT_EQ(looks.look(++births).act, Act::kDrain);
  EXPECT_EQ(looks.look(births).act, Act::kNothing);
  for (int i = 0; i < 60; ++i) EXPECT_EQ(looks.look(++births).act, Act::kDrain);
}

TEST(IdleLooksTest, AQuietOneIsCollectedTwiceAndLeftAlone) {
  using Act = IdleLooks::Look::Act;
  IdleLooks looks;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    EXPECT_EQ(looks.look(round).act, Act::kDrain);
    EXPECT_EQ(looks.look(round).act, Act::kNothing);  // it may only have been without a processor
    EXPECT_EQ(looks.look(round).act, Act::kCollect);
    const IdleLooks::Look second = looks.look(round);
    EXPECT_EQ(second.act, Act::kCollect);
    EXPECT_TRUE(second.again);
    const IdleLooks::Look last = looks.look(round);
    EXPECT_EQ(last.act, Act::kNothing);
    EXPECT_FALSE(last.again);
  }
}

// ---- walks

constexpr std::uint64_t kEntryNs = 250;
constexpr std::uint64_t kCost = 20 * kMillisecond;

// Walks until one is due; how many it took. 0: none in a thousand.
int walks_until_due(Walks& walks, std::uint64_t list, std::uint64_t entries) {
  for (int i = 1; i <= 1000; ++i) {
    if (walks.due(list, entries, kCost)) return i;
  }
  return 0;
}

TEST(WalksTest, ACollectionIsDueOnceWalksHaveCostMoreThanOne) {
  Walks walks;
  EXPECT_FALSE(walks.due(1, 0, kCost)) << "the first walk over a list";
  EXPECT_EQ(walks_until_due(walks, 1, 8000), static_cast<int>(kCost / (8000 * kEntryNs)) + 1);
}

TEST(WalksTest, WhatACollectionLeavesIsNotWasted) {
  Walks walks;
  walks_until_due(walks, 1, 8000);
  EXPECT_FALSE(walks.due(1, 1000, kCost));  // that many are alive
  EXPECT_EQ(walks_until_due(walks, 1, 1000), 0);
  EXPECT_EQ(walks_until_due(walks, 1, 9000), static_cast<int>(kCost / (8000 * kEntryNs)) + 1);
}

TEST(WalksTest, CollectionsThatFindLittleAreDoubted) {
  Walks walks;
  const int first = walks_until_due(walks, 1, 8000);
  walks.due(1, 7000, kCost);  // it found little: twice as much must be wasted
  const int second = walks_until_due(walks, 1, 15000);
  EXPECT_NEAR(second, 2 * (first - 1), 1);
}

TEST(WalksTest, ListsAreCountedApart) {
  Walks walks;
  for (std::uint64_t list = 1; list <= 8; ++list) walks.due(list, 8000, kCost);
  EXPECT_EQ(walks_until_due(walks, 9, 8000), static_cast<int>(kCost / (8000 * kEntryNs)) + 1);
}

TEST(WalksTest, ACheapCollectionIsNotTakenForFree) {
  Walks walks;
  int walked = 1;
  while (!walks.due(1, 100, 0)) ++walked;
  EXPECT_EQ(walked, static_cast<int>(5 * kMillisecond / (100 * kEntryNs)) + 1);
}

}  // namespace
}  // namespace ebb
