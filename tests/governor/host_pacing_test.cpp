// The pacing with the parameters of the hosts that there are, against the garbage model, in virtual
// time: what their own early collections, looks and walks did is held here.
#include <gtest/gtest.h>

#include <algorithm>

#include "governor/garbage_model.hpp"

namespace ebb::test {
namespace {

constexpr std::uint64_t kMegabyte = 1 << 20;
constexpr std::uint64_t kMicrosecond = 1000;

// A host that comes by a safe point before each birth; its runtime has no budget.
class PacedHost : public Ladder {
 public:
  PacedHost(GarbageModel::Costs costs, GovernorOptions options)
      : governor(with_clock(options)),
        model(costs, [this](std::uint64_t, std::uint64_t bytes) { orphaned += bytes; }) {}

  bool fits() override { return true; }
  std::uint64_t drain() override {
    const std::uint64_t bytes = std::exchange(orphaned, 0);
    booked -= bytes;
    return bytes;
  }
  std::uint64_t collect(Collection kind) override { return model.collect(kind); }
  std::uint64_t live() override { return booked; }

  void play(const Workload& workload, bool scoped = false) {
    for (std::uint64_t step = 0; step < workload.steps; ++step) {
      model.step();
      drain();
      if (governor.grown(booked, scoped)) governor.pace(*this, scoped, born);
      const Birth birth = workload.birth(step);
      booked += birth.bytes;
      born += birth.bytes;
      peak = std::max(peak, booked);
      model.born(0, birth);
    }
  }

  Governor governor;
  GarbageModel model;
  std::uint64_t booked = 0, orphaned = 0, born = 0, peak = 0;

 private:
  static GovernorOptions with_clock(GovernorOptions options) {
    options.now = &GarbageModel::now;
    return options;
  }
};

// Node: a scavenge of a millisecond, kernels of 100 us.
struct Node : PacedHost {
  Node()
      : PacedHost({.step = 100 * kMicrosecond, .minor = kMillisecond, .major = 30 * kMillisecond},
                  {.minor_step = 10 * kMegabyte, .major_step = 64 * kMegabyte}) {}
};

TEST(HostPacing, ACarelessLoopReusesItsMemoryEarly) {
  Node host;
  host.play({"careless", 100000, [](std::uint64_t) { return Birth{kMegabyte / 4, 0}; }});
  EXPECT_LE(host.peak, 12 * kMegabyte) << "a step, and what is born while it may not collect";
  EXPECT_LE(host.model.share(), 0.255);
  EXPECT_EQ(host.governor.costs().major, 0u);
}

TEST(HostPacing, WhatSlipsThroughMinorCollectionsIsFoundAfterAMajorStep) {
  Node host;  // a few are in use whenever a minor collection comes, and grow old by it
  host.play({"careless", 100000, [](std::uint64_t) { return Birth{kMegabyte / 4, 2}; }});
  EXPECT_LE(host.peak, (64 + 10 + 2) * kMegabyte);
  EXPECT_LE(host.model.share(), 0.26);
}

TEST(HostPacing, CollectionsInVainTakeAHundredthOfTheTime) {
  Node host;
  host.play({"growing", 20000, [](std::uint64_t) { return Birth{kMegabyte / 4, kForEver}; }});
  const CollectionCosts costs = host.governor.costs();
  EXPECT_GT(costs.minor, 5u);
  EXPECT_LE(costs.minor * kMillisecond, 20000 * 100 * kMicrosecond / 80);
  EXPECT_LE(host.model.share(), 0.13) << "and major ones, each after half as much again";
}

TEST(HostPacing, DroppedModelsArePressureToo) {
  const Workload models{"a model for each request, which grows old before it is dropped", 50000,
                        [](std::uint64_t) {
                          return Birth{kMegabyte / 16, 400};
                        }};
  Node host;
  host.play(models);
  EXPECT_LE(host.peak, 450 * kMegabyte) << "3 GB were born, 25 MB are in use at a time";
  host.peak = 0;
  host.play(models);
  EXPECT_LE(host.peak, 170 * kMegabyte) << "once it has seen that collecting pays";
  EXPECT_LE(host.model.share(), 0.25);
}

TEST(HostPacing, WhatEndsWithItsScopeIsLeftAlone) {
  Node host;
  for (int step = 0; step < 100; ++step) {
    host.play({"tidy", 200, [](std::uint64_t) { return Birth{kMegabyte / 4, kForEver}; }}, true);
    host.booked = 0;  // the scope closes
  }
  EXPECT_EQ(host.governor.costs().minor + host.governor.costs().major, 0u);
}

TEST(HostPacing, AScopeThatNeverEndsDoesNotStopIt) {
  Node host;
  host.play({"endScope forgotten", 50000,
             [](std::uint64_t) {
               return Birth{kMegabyte / 4, 0};
             }},
            true);
  EXPECT_LE(host.peak, 170 * kMegabyte);
}

// The JVM: no minor collection, a major one of 20 ms, arrays that take 200 us.
struct Jvm : PacedHost {
  Jvm()
      : PacedHost({.step = 200 * kMicrosecond, .minor = 0, .major = 20 * kMillisecond},
                  {.minor = false, .major_step = 32 * kMegabyte}) {}
};

TEST(HostPacing, ArraysDroppedFarFromTheBudgetDoNotPileUp) {
  Jvm host;
  host.play({"dropped", 50000, [](std::uint64_t) { return Birth{kMegabyte, 2}; }});
  // A quarter of the time buys a collection each 80 ms, in which 400 MB are born.
  EXPECT_LE(host.peak, 450 * kMegabyte);
  EXPECT_LE(host.model.share(), 0.255);
  EXPECT_EQ(host.governor.costs().minor, 0u);
}

TEST(HostPacing, AGrowingLiveSetPaysTheUsualShareAtMost) {
  Jvm host;
  host.play({"growing", 50000, [](std::uint64_t) { return Birth{kMegabyte / 16, kForEver}; }});
  EXPECT_LE(host.model.share(), 0.05);
}

TEST(HostPacing, WalksOverDeadArraysCostNoMoreThanTwiceTheirCollections) {
  constexpr std::uint64_t kEntry = 250, kAlive = 100, kBornPerWalk = 60;
  Jvm host;
  std::uint64_t entries = kAlive, visited = 0, walking = 0, collecting = 0;
  for (int walk = 0; walk < 20000; ++walk) {
    const std::uint64_t before = host.governor.costs().major;
    host.governor.walk(host, 7, visited, host.born);
    if (host.governor.costs().major != before) {
      entries = kAlive;
      collecting += 20 * kMillisecond;
    }
    visited = entries;
    walking += (entries - kAlive) * kEntry;
    entries += kBornPerWalk;
  }
  EXPECT_GT(collecting, 0u);
  EXPECT_LE(collecting, walking);
  EXPECT_LE(walking, collecting + collecting / 4 + 40 * kMillisecond);
}

TEST(HostPacing, AProgramThatWentQuietGivesAllBackAndIsLeftAlone) {
  Node host;
  host.play({"small", 20, [](std::uint64_t) { return Birth{kMegabyte / 4, 2}; }});
  host.play({"nothing", 100, [](std::uint64_t) { return Birth{0, 1}; }});
  EXPECT_GT(host.booked, 0u);
  int looks = 1;
  while (host.governor.idle(host, 120, host.born) != 0) ++looks;
  EXPECT_EQ(host.booked, 0u);
  EXPECT_EQ(looks, 5);  // it sees births, three quiet looks, and the end
  EXPECT_EQ(host.governor.costs().major, 2u);
}

}  // namespace
}  // namespace ebb::test
