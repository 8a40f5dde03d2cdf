// The governor alone, against the garbage model, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>

#include "governor/garbage_model.hpp"

namespace ebb::test {
namespace {

// A device of `budget` bytes whose host collects by the model.
class Simulation : public Ladder {
 public:
  explicit Simulation(Stake how, double share = 0.05) : stake(how), governor(options(share)) {}

  bool fits() override { return needs() <= std::max(budget, limit); }
  std::uint64_t drain() override {
    const std::uint64_t bytes = std::exchange(orphaned, 0);
    booked -= bytes;
    return bytes;
  }
  std::uint64_t collect(Collection kind) override { return model.collect(kind); }
  std::uint64_t live() override { return booked; }
  std::uint64_t needs() override { return booked + upcoming; }
  std::uint64_t ceiling() override { return limit; }
  void set_ceiling(std::uint64_t bytes) override { limit = bytes; }
  bool overrun() const { return limit != 0; }

  void play(const Workload& workload) {
    for (std::uint64_t step = 0; step < workload.steps; ++step) one(workload.birth(step));
  }
  void one(const Birth& birth) {
    model.step();
    upcoming = birth.bytes;
    if (!fits()) {
      const bool fitted = governor.climb(
          *this, {.stake = stake, .budget = budget, .born = born, .can_collect = can_collect});
      failures += fitted ? 0 : 1;
      if (!fitted && stake == Stake::kMustFit) return;  // the request failed
    }
    booked += birth.bytes;
    born += birth.bytes;
    peak = std::max(peak, booked);
    model.born(0, birth);
  }

  const Stake stake;
  std::uint64_t budget = kBudgetBytes;
  bool can_collect = true;
  std::uint64_t booked = 0, orphaned = 0, upcoming = 0, born = 0, peak = 0, failures = 0;
  std::uint64_t limit = 0;  // the ceiling
  Governor governor;
  GarbageModel model{{}, [this](std::uint64_t, std::uint64_t bytes) { orphaned += bytes; }};

 private:
  static GovernorOptions options(double share) {
    return {.share = share, .minor = true, .now = &GarbageModel::now};
  }
};

TEST(GovernorSimulation, ThePeakStaysUnderTheBudgetWhereTheLiveSetFits) {
  for (const Stake stake : {Stake::kMustFit, Stake::kBudget}) {
    for (const Workload& workload : workloads_that_fit()) {
      Simulation simulation(stake);
      simulation.play(workload);
      EXPECT_LE(simulation.peak, kBudgetBytes) << workload.name;
      EXPECT_EQ(simulation.failures, 0u) << workload.name;
      EXPECT_GT(simulation.peak, kBudgetBytes / 2) << workload.name << " does not press";
    }
  }
}

TEST(GovernorSimulation, NothingIsCollectedWhereNothingIsGarbage) {
  Simulation simulation(Stake::kMustFit);
  simulation.play(all_reachable(kBudgetBytes / 100));
  EXPECT_EQ(simulation.booked, kBudgetBytes);
  EXPECT_EQ(simulation.governor.costs().minor + simulation.governor.costs().major, 0u);
}

TEST(GovernorSimulation, NothingIsCollectedWhereEverythingFits) {
  Simulation simulation(Stake::kBudget);
  simulation.budget = 1 << 30;
  for (const Workload& workload : workloads_that_fit()) simulation.play(workload);
  EXPECT_EQ(simulation.governor.costs().total_ns, 0u);
}

// 1.5 x what is reachable, and the last birth.
std::uint64_t most_past(std::uint64_t reachable) { return reachable + reachable / 2 + 100; }

TEST(GovernorSimulation, WhatIsReachableAndGrowsIsSeldomLookedAt) {
  Simulation simulation(Stake::kBudget);
  simulation.play(all_reachable(20000));
  EXPECT_TRUE(simulation.overrun());
  EXPECT_LE(simulation.limit, most_past(simulation.booked));
  EXPECT_LE(simulation.governor.costs().major, 14u);  // each after half as much again
}

TEST(GovernorSimulation, ABudgetBelowTheLiveSetHoldsOneAndAHalfTimesTheLiveSet) {
  Simulation simulation(Stake::kBudget);
  simulation.play(all_reachable(150));
  simulation.play({"garbage on top", 20000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_TRUE(simulation.overrun());
  EXPECT_LE(simulation.peak, most_past(15000 + 200));
  EXPECT_LE(simulation.model.share(), 0.25);
}

// A major collection takes 20 steps, the garbage fills half of the live set in 4.
TEST(GovernorSimulation, BeyondAQuarterOfTheTimeTheBoundYields) {
  Simulation simulation(Stake::kBudget);
  simulation.play(all_reachable(150));
  simulation.play({"too fast", 20000, [](std::uint64_t) { return Birth{2000, 30}; }});
  EXPECT_TRUE(simulation.overrun());
  EXPECT_LE(simulation.model.share(), 0.26);
  EXPECT_GT(simulation.model.share(), 0.2);
  // What is born in the time of three collections, beside what lives.
  EXPECT_LE(simulation.peak, 15000u + 2000 * 30 + 2000 * 75);
}

TEST(GovernorSimulation, RationedCollectionsKeepToTheirShare) {
  for (const double share : {0.01, 0.05, 0.2}) {
    Simulation simulation(Stake::kBudget, share);
    simulation.budget = 1 << 30;
    for (int step = 0; step < 20000; ++step) {
      simulation.one({100, 2});
      simulation.governor.collect(simulation, Collection::kMajor, true, simulation.born);
    }
    EXPECT_LE(simulation.model.share(), share * 1.01 + 0.002);
    EXPECT_GT(simulation.model.share(), share * 0.9);
  }
}

TEST(GovernorSimulation, MinorCollectionsThatFindNothingAreTriedLessAndLess) {
  Simulation simulation(Stake::kMustFit);
  // Each object survives its first collection, and only a major one finds it.
  simulation.play({"old garbage", 20000, [](std::uint64_t) { return Birth{100, 95}; }});
  const CollectionCosts costs = simulation.governor.costs();
  EXPECT_EQ(simulation.failures, 0u);
  EXPECT_GT(costs.major, 100u);
  EXPECT_LT(costs.minor, costs.major / 4);
}

TEST(GovernorSimulation, MinorCollectionsThatPayAreAllThatIsNeeded) {
  Simulation simulation(Stake::kMustFit);
  simulation.play({"young garbage", 20000, [](std::uint64_t) { return Birth{100, 1}; }});
  EXPECT_GT(simulation.governor.costs().minor, 100u);
  EXPECT_LE(simulation.governor.costs().major, simulation.governor.costs().minor / 20);
}

TEST(GovernorSimulation, AfterAnOverrunTheBudgetIsKeptAgain) {
  Simulation simulation(Stake::kBudget);
  simulation.play({"too much for a while", 150, [](std::uint64_t) { return Birth{100, 200}; }});
  EXPECT_TRUE(simulation.overrun());
  simulation.play({"then little", 20000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_FALSE(simulation.overrun());
  simulation.peak = 0;
  simulation.play({"and little", 5000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_LE(simulation.peak, kBudgetBytes);
}

TEST(GovernorSimulation, AHardBudgetFailsOnlyWhereTheLiveSetDoesNotFit) {
  Simulation simulation(Stake::kMustFit);
  simulation.play(all_reachable(150));
  EXPECT_EQ(simulation.booked, kBudgetBytes);
  EXPECT_EQ(simulation.failures, 50u);
  EXPECT_EQ(simulation.model.reachable(), kBudgetBytes);
}

TEST(GovernorSimulation, WithReclaimOffNothingIsEverCollected) {
  for (const Stake stake : {Stake::kMustFit, Stake::kBudget}) {
    Simulation simulation(stake);
    simulation.can_collect = false;
    for (const Workload& workload : workloads_that_fit()) simulation.play(workload);
    EXPECT_EQ(simulation.governor.costs().minor + simulation.governor.costs().major, 0u);
    EXPECT_FALSE(simulation.overrun());
  }
}

}  // namespace
}  // namespace ebb::test
