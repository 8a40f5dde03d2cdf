// One climb at a time: which rungs are tried, in which order, and what is learnt from them.
#include "ebb/memory/governor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

namespace ebb {
namespace {

std::uint64_t clock_ns = 0;
std::uint64_t now() { return clock_ns; }

// Says which rungs were climbed; fits once they end in `fits_after`, or where it needs no more than
// the ceiling.
struct ScriptedLadder : Ladder {
  std::string rungs;
  std::string fits_after;
  std::uint64_t found = 0;  // by each collection
  std::uint64_t cost = 10;
  std::uint64_t needed = 3200;
  std::uint64_t limit = 0;  // the ceiling

  bool fits() override {
    return (!fits_after.empty() && rungs.ends_with(fits_after)) || (limit != 0 && needed <= limit);
  }
  std::uint64_t drain() override {
    const std::uint64_t came = rungs.ends_with('m') || rungs.ends_with('M') ? found : 0;
    rungs += 'd';
    needed -= std::min(needed, came);
    return came;
  }
  std::uint64_t collect(Collection kind) override {
    if (cost == kCannotCollect) return cost;
    rungs += kind == Collection::kMinor ? 'm' : 'M';
    clock_ns += cost;
    return cost;
  }
  std::uint64_t live() override { return needed; }
  void ask_others() override { rungs += 'a'; }
  void wait_pending() override { rungs += 'w'; }
  std::uint64_t needs() override { return needed; }
  std::uint64_t ceiling() override { return limit; }
  void set_ceiling(std::uint64_t bytes) override { limit = bytes; }
};

constexpr std::uint64_t kBudget = 1600;

class GovernorTest : public testing::Test {
 protected:
  GovernorTest() { clock_ns = 1000; }
  std::string climb(Stake stake, std::uint64_t born, std::string fits_after = {},
                    std::uint64_t found = 0, bool can_collect = true) {
    ScriptedLadder ladder;
    ladder.fits_after = std::move(fits_after);
    ladder.found = found;
    return climb(ladder, stake, born, can_collect);
  }
  std::string climb(ScriptedLadder& ladder, Stake stake, std::uint64_t born,
                    bool can_collect = true) {
    ladder.cost = cost;
    ladder.rungs.clear();
    fitted = governor.climb(
        ladder, {.stake = stake, .budget = kBudget, .born = born, .can_collect = can_collect});
    return ladder.rungs;
  }
  std::uint64_t cost = 10;
  Governor governor{GovernorOptions{.share = 0.05, .minor = true, .now = &now}};
  bool fitted = false;
};

TEST_F(GovernorTest, ClimbsEveryRungWhereTheAlternativeIsAnError) {
  EXPECT_EQ(climb(Stake::kMustFit, 1), "dmdMdaw");
  EXPECT_FALSE(fitted);
}

TEST_F(GovernorTest, StopsAsSoonAsItFits) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, "d"), "d");
  EXPECT_EQ(climb(Stake::kMustFit, 1, "md", 100), "dmd");
  EXPECT_TRUE(fitted);
  EXPECT_EQ(governor.costs().major, 0u);
}

TEST_F(GovernorTest, TheLaterRungsAreTriedInOrder) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, "Md"), "dmdMd");
  EXPECT_EQ(climb(Stake::kMustFit, 2, "a"), "dMdaw");
  EXPECT_EQ(climb(Stake::kMustFit, 3, "w"), "dmdMdaw");
  EXPECT_TRUE(fitted);
}

TEST_F(GovernorTest, WithoutACollectorItDrainsAndAsks) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, {}, 0, false), "daw");
  ScriptedLadder ladder;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 1, false), "da");
  EXPECT_FALSE(fitted);
  EXPECT_EQ(ladder.limit, 0u);  // nobody has looked what is reachable
  EXPECT_EQ(governor.costs().minor + governor.costs().major, 0u);
}

TEST_F(GovernorTest, AHostThatCannotCollectNowIsNotAskedAgainInTheClimb) {
  cost = kCannotCollect;
  EXPECT_EQ(climb(Stake::kMustFit, 1), "daw");
  EXPECT_EQ(governor.costs().minor + governor.costs().major, 0u);
  EXPECT_EQ(governor.costs().total_ns, 0u);
}

TEST_F(GovernorTest, AHostWithoutMinorCollectionsGetsMajorOnes) {
  Governor major_only(GovernorOptions{.minor = false, .now = &now});
  ScriptedLadder ladder;
  major_only.climb(ladder, {.born = 1});
  EXPECT_EQ(ladder.rungs, "dMdaw");
  Governor paced(GovernorOptions{.minor = false, .minor_step = 100, .now = &now});
  EXPECT_FALSE(paced.grown(1000, false));
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

TEST_F(GovernorTest, AMinorCollectionPaysThatFindsASixteenthOfTheBudget) {
  EXPECT_EQ(climb(Stake::kMustFit, 1, "md", kBudget / 16), "dmd");
  EXPECT_EQ(climb(Stake::kMustFit, 2, "md", kBudget / 16), "dmd");
  EXPECT_EQ(climb(Stake::kMustFit, 3, "md", kBudget / 16 - 1), "dmd");
  EXPECT_EQ(climb(Stake::kMustFit, 4, "md"), "dMdaw");
}

TEST_F(GovernorTest, WithinASoftBudgetAMinorCollectionIsEnoughWhereItFits) {
  EXPECT_EQ(climb(Stake::kBudget, 1, "md", 200), "dmd");
  EXPECT_TRUE(fitted);
}

// Memory in pieces: below the ceiling, and yet there is no room.
TEST_F(GovernorTest, InAnOverrunAMinorCollectionIsNotEnoughWhereItDoesNotFit) {
  struct Splintered : ScriptedLadder {
    bool fits() override { return false; }
  } ladder;
  ladder.needed = 2000;
  ladder.limit = 6000;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 1).substr(0, 5), "dmdMd");
}

TEST_F(GovernorTest, ASoftBudgetThatCannotBeKeptIsAnOverrun) {
  ScriptedLadder ladder;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 1), "dmdMda");
  EXPECT_TRUE(fitted);                             // below the ceiling
  EXPECT_EQ(ladder.limit, ladder.needed * 3 / 2);  // 1.5 x what is reachable
}

TEST_F(GovernorTest, InAnOverrunCollectionsMayTakeAQuarterOfTheTime) {
  cost = 1000;
  ScriptedLadder ladder;
  climb(ladder, Stake::kBudget, 1000);  // a minor and a major one: 2000 ns
  ladder.needed = ladder.limit + 1;
  clock_ns += 3 * 2000 - 1;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 5000), "d");
  EXPECT_TRUE(fitted) << "the ceiling yields";
  EXPECT_EQ(ladder.limit, ladder.needed + kBudget / 16);
  ladder.needed = ladder.limit + 1;
  clock_ns += 1;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 6000), "dMd");
  EXPECT_EQ(ladder.limit, ladder.needed * 3 / 2);
}

// Its own rest would be 3 x 3000.
TEST_F(GovernorTest, InAnOverrunALongCollectionUsesWhatShortOnesHaveLeft) {
  cost = 1000;
  ScriptedLadder ladder;
  climb(ladder, Stake::kBudget, 1000);  // a minor and a major one
  clock_ns += 3 * 2000 + 4 * 2000;      // 2000 are left
  cost = 3000;
  ladder.needed = ladder.limit + 1;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 5000), "dMd");
  for (const std::uint64_t rest : {999u, 1u}) {
    clock_ns += rest;
    ladder.needed = ladder.limit + 1;
    EXPECT_EQ(climb(ladder, Stake::kBudget, 6000), rest == 1 ? "dmdMd" : "d");
  }
}

TEST_F(GovernorTest, InAnOverrunNothingBornNothingCollected) {
  ScriptedLadder ladder;
  climb(ladder, Stake::kBudget, 1000);
  ladder.needed = ladder.limit + 1;
  clock_ns += 1000000;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 1000), "d");
}

TEST_F(GovernorTest, InAnOverrunAMinorCollectionIsEnoughIfItTakesHalfOfTheGrowthBack) {
  for (const std::uint64_t found : {1000u, 1001u}) {
    governor.restart({.now = &now});
    ScriptedLadder ladder;
    ladder.limit = 6000;  // so 4000 are reachable
    ladder.needed = 6001;
    ladder.found = found;
    EXPECT_EQ(climb(ladder, Stake::kBudget, 1), found == 1000 ? "dmdMd" : "dmd");
  }
}

TEST_F(GovernorTest, AnOverrunIsOverWhenWhatIsNeededFitsTheBudget) {
  ScriptedLadder ladder;
  climb(ladder, Stake::kBudget, 1);
  EXPECT_NE(ladder.limit, 0u);
  ladder.needed = ladder.limit + 1;
  ladder.found = ladder.needed - kBudget;
  ladder.fits_after = "Md";
  clock_ns += 1000000;
  EXPECT_EQ(climb(ladder, Stake::kBudget, 2), "dMd");
  EXPECT_TRUE(fitted);
  EXPECT_EQ(ladder.limit, 0u);
}

TEST_F(GovernorTest, NothingBornNothingCollected) { EXPECT_EQ(climb(Stake::kBudget, 0), "da"); }

TEST_F(GovernorTest, ExplicitCollectionsMayBeRationed) {
  ScriptedLadder ladder;
  EXPECT_TRUE(governor.collect(ladder, Collection::kMajor, false, 0));
  EXPECT_FALSE(governor.collect(ladder, Collection::kMajor, true, 0));  // nothing born
  EXPECT_FALSE(governor.collect(ladder, Collection::kMajor, true, 1));  // too soon
  clock_ns += 190;
  EXPECT_TRUE(governor.collect(ladder, Collection::kMajor, true, 1));
  EXPECT_EQ(ladder.rungs, "MdMd");
  EXPECT_EQ(governor.costs().major, 2u);
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
