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

  bool fits() override { return booked + upcoming <= budget; }
  std::uint64_t drain() override {
    const std::uint64_t bytes = std::exchange(orphaned, 0);
    booked -= bytes;
    return bytes;
  }
  std::uint64_t collect(Collection kind) override { return model.collect(kind); }

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
    } else if (governor.overrun()) {
      governor.recovered();
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

TEST(GovernorSimulation, InAnOverrunCollectionsKeepToTheirShare) {
  for (const double share : {0.01, 0.05, 0.2}) {
    Simulation simulation(Stake::kBudget, share);
    simulation.play(all_reachable(20000));
    EXPECT_TRUE(simulation.governor.overrun());
    EXPECT_LE(simulation.model.share(), share * 1.01 + 0.002) << share;
    EXPECT_GT(simulation.governor.costs().major, 1u) << "it still looks now and then";
  }
}

TEST(GovernorSimulation, InAnOverrunWithGarbageCollectionsKeepToTheirShareToo) {
  Simulation simulation(Stake::kBudget);
  simulation.play(all_reachable(150));
  simulation.play({"garbage on top", 20000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_TRUE(simulation.governor.overrun());
  EXPECT_LE(simulation.model.share(), 0.0525);
  // And they do find it: without them 2 MB would be booked.
  EXPECT_LT(simulation.peak, 400000u);
}

TEST(GovernorSimulation, RationedCollectionsKeepToTheirShare) {
  Simulation simulation(Stake::kRation);
  simulation.budget = 1;  // nothing ever fits, nobody needs it to
  simulation.play({"garbage", 20000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_LE(simulation.model.share(), 0.0525);
  EXPECT_GT(simulation.model.share(), 0.01);
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
  EXPECT_TRUE(simulation.governor.overrun());
  simulation.play({"then little", 20000, [](std::uint64_t) { return Birth{100, 2}; }});
  EXPECT_FALSE(simulation.governor.overrun());
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
  for (const Stake stake : {Stake::kMustFit, Stake::kBudget, Stake::kRation}) {
    Simulation simulation(stake);
    simulation.can_collect = false;
    for (const Workload& workload : workloads_that_fit()) simulation.play(workload);
    EXPECT_EQ(simulation.governor.costs().minor + simulation.governor.costs().major, 0u);
    EXPECT_FALSE(simulation.governor.overrun());
  }
}

}  // namespace
}  // namespace ebb::test
