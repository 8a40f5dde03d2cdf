// One climb at a time: which rungs are tried, in which order, and what is learnt from them.
#include "ebb/memory/governor.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace ebb {
namespace {

std::uint64_t clock_ns = 0;
std::uint64_t now() { return clock_ns; }

// Says which rungs were climbed; fits from the n-th rung on.
struct ScriptedLadder : Ladder {
  std::string rungs;
  std::string fits_after;  // fits once `rungs` ends so
  std::uint64_t found = 0;
  std::uint64_t cost = 10;

  bool fits() override { return !fits_after.empty() && rungs.ends_with(fits_after); }
  std::uint64_t drain() override {
    rungs += 'd';
    return found;
  }
  std::uint64_t collect(Collection kind) override {
    rungs += kind == Collection::kMinor ? 'm' : 'M';
    clock_ns += cost;
    return cost;
  }
  void trim() override { rungs += 't'; }
  void ask_others() override { rungs += 'a'; }
  void wait_pending() override { rungs += 'w'; }
};

class GovernorTest : public testing::Test {
 protected:
  GovernorTest() { clock_ns = 1000; }
  std::string climb(Stake stake, std::uint64_t born, std::string fits_after = {},
                    std::uint64_t found = 0, bool can_collect = true) {
    ScriptedLadder ladder;
    ladder.fits_after = std::move(fits_after);
    ladder.found = found;
    ladder.cost = cost;
    fitted = governor.climb(
        ladder, {.stake = stake, .budget = 1600, .born = born, .can_collect = can_collect});
    return ladder.rungs;
  }
  std::uint64_t cost = 10;
  Governor governor{GovernorOptions{.share = 0.05, .minor = true, .now = &now}};
  bool fitted = false;
};

TEST_F(GovernorTest, ClimbsEveryRungWhereTheAlternativeIsAnError) {
  EXPECT_EQ(climb(Stake::kMustFit, 1), "dmdtMdaw");
  EXPECT_FALSE(fitted);
}

TEST_F(GovernorTest, StopsAsSoonAsItFits) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, "d"), "d");
  EXPECT_EQ(climb(Stake::kMustFit, 1, "md", 100), "dmd");
  EXPECT_EQ(climb(Stake::kMustFit, 2, "t"), "dmdt");
  EXPECT_TRUE(fitted);
  EXPECT_EQ(governor.costs().major, 0u);
}

TEST_F(GovernorTest, TheLaterRungsAreTriedInOrder) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, "Md"), "dmdtMd");
  EXPECT_EQ(climb(Stake::kMustFit, 2, "a"), "dtMdaw");
  EXPECT_EQ(climb(Stake::kMustFit, 3, "w"), "dmdtMdaw");
  EXPECT_TRUE(fitted);
}

TEST_F(GovernorTest, WithoutACollectorItDrainsAndTrims) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, {}, 0, false), "dtaw");
  EXPECT_EQ(climb(Stake::kBudget, 1, {}, 0, false), "dta");
  EXPECT_FALSE(governor.overrun());  // nobody has looked what is reachable
  EXPECT_EQ(governor.costs().minor + governor.costs().major, 0u);
}

TEST_F(GovernorTest, AHostWithoutMinorCollectionsGetsMajorOnes) {
  Governor major_only(GovernorOptions{.minor = false, .now = &now});
  ScriptedLadder ladder;
  major_only.climb(ladder, {.born = 1});
  EXPECT_EQ(ladder.rungs, "dtMdaw");
}

TEST_F(GovernorTest, BacksOffFromMinorCollectionsThatFindNothing) {
  std::string minors;
  for (std::uint64_t born = 1; born <= 40; ++born) {
    minors += climb(Stake::kMustFit, born).find('m') != std::string::npos ? 'm' : '.';
  }
  EXPECT_EQ(minors, "m.m..m....m........m................m...");
}

TEST_F(GovernorTest, TheBackOffHasALongestStep) {
  std::uint64_t skipped = 0, longest = 0;
  for (std::uint64_t born = 1; born <= 1000; ++born) {
    const bool minor = climb(Stake::kMustFit, born).find('m') != std::string::npos;
    skipped = minor ? 0 : skipped + 1;
    longest = std::max(longest, skipped);
  }
  EXPECT_EQ(longest, 64u);
}

TEST_F(GovernorTest, AMinorCollectionThatPaysEndsTheBackOff) {
  climb(Stake::kMustFit, 1);                               // finds nothing: skip one
  climb(Stake::kMustFit, 2);                               // skipped
  EXPECT_EQ(climb(Stake::kMustFit, 3, "md", 800), "dmd");  // pays
  EXPECT_EQ(climb(Stake::kMustFit, 4, "md", 800), "dmd");  // and is tried at once
}

TEST_F(GovernorTest, ASoftBudgetThatCannotBeKeptIsAnOverrun) {
  EXPECT_EQ(climb(Stake::kBudget, 1), "dmdtMda");
  EXPECT_TRUE(governor.overrun());
  governor.recovered();
  EXPECT_FALSE(governor.overrun());
}

TEST_F(GovernorTest, InAnOverrunCollectionsNeedBirthsAndKeepToTheirShare) {
  climb(Stake::kBudget, 1000);
  clock_ns += 1000000;
  EXPECT_EQ(climb(Stake::kBudget, 1000), "dt");  // nothing was born
  EXPECT_EQ(climb(Stake::kBudget, 1099), "dt");  // less than a sixteenth of the budget
  EXPECT_NE(climb(Stake::kBudget, 1100).find('M'), std::string::npos);
  EXPECT_EQ(climb(Stake::kBudget, 9999), "dt");  // too soon
}

TEST_F(GovernorTest, NothingBornNothingCollected) {
  EXPECT_EQ(climb(Stake::kBudget, 0), "dta");
  EXPECT_EQ(climb(Stake::kRation, 0), "dt");
}

TEST_F(GovernorTest, TheShareCountsBothCollectionsOfAClimb) {
  cost = 1000;
  climb(Stake::kBudget, 1000);  // a minor and a major one: 2000 ns
  const std::uint64_t rest = 2000 * 19;
  clock_ns += rest - 1;
  EXPECT_EQ(climb(Stake::kRation, 5000), "dt");
  clock_ns += 1;
  EXPECT_NE(climb(Stake::kRation, 5000), "dt");
}

TEST_F(GovernorTest, ExplicitCollectionsMayBeRationed) {
  ScriptedLadder ladder;
  EXPECT_TRUE(governor.collect(ladder, Collection::kMajor, false, 0));
  EXPECT_FALSE(governor.collect(ladder, Collection::kMajor, true, 0));  // nothing born
  EXPECT_FALSE(governor.collect(ladder, Collection::kMajor, true, 1));  // too soon
  clock_ns += 190;
  EXPECT_TRUE(governor.collect(ladder, Collection::kMinor, true, 1));
  EXPECT_EQ(ladder.rungs, "Mdmd");
  EXPECT_EQ(governor.costs().major, 1u);
  EXPECT_EQ(governor.costs().minor, 1u);
}

TEST_F(GovernorTest, CountsCosts) {
  ScriptedLadder ladder;
  ladder.cost = 30;
  governor.collect(ladder, Collection::kMajor, false, 1);
  ladder.cost = 5;
  governor.collect(ladder, Collection::kMinor, false, 2);
  EXPECT_EQ(governor.costs().total_ns, 35u);
  EXPECT_EQ(governor.costs().longest_ns, 30u);
}

TEST_F(GovernorTest, AnAbsurdShareIsBroughtToReason) {
  for (const double share : {0.0, -1.0, 7.0, std::numeric_limits<double>::quiet_NaN()}) {
    Governor odd(GovernorOptions{.share = share, .now = &now});
    ScriptedLadder ladder;
    EXPECT_TRUE(odd.collect(ladder, Collection::kMajor, true, 1)) << share;
    clock_ns += 1000000;
    EXPECT_TRUE(odd.collect(ladder, Collection::kMajor, true, 2)) << share;
  }
}

}  // namespace
}  // namespace ebb
