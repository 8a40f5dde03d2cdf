// Budgets: what is tried before a request fails, what is said when one is passed.
#include <thread>
#include <vector>

#include "ebb/memory/simulated_device.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

class Budget : public ContextTest {
 protected:
  static constexpr std::int64_t kMegabyte = (1 << 20) / 4;  // elements
  // Drops all of `reachable` at the next major collection.
  void drop_at_major(std::vector<Handle>& reachable) {
    host.on_collect = [&](Collection kind) {
      if (kind == Collection::kMajor) {
        for (const Handle handle : reachable) Context::orphan(handle);
        reachable.clear();
      }
      return 1;
    };
  }
};

TEST_F(Budget, TheErrorNamesDeviceRequestBudgetAndSites) {
  const SiteId big = SiteTable::instance().intern("layer.cpp:10\nmain");
  const SiteId small = SiteTable::instance().intern("layer.cpp:20");
  cpu->set_budget(8 << 20, BudgetMode::kHard);
  make({3 * kMegabyte}, 0, big);
  Context::orphan(make({kMegabyte}, 0, small));
  EXPECT_ERROR(make({6 * kMegabyte}), kOutOfMemory, "[make]", "cpu", "6.00 MB", "budget 8.00 MB",
               "reclaim is off", "in 2 live tensors", "3.00 MB in 1 tensors: layer.cpp:10",
               "(1 orphaned): layer.cpp:20");
  EXPECT_NO_THROW(make({kMegabyte}));
}

TEST_F(Budget, TheErrorSaysWhenNothingIsKnown) {
  EXPECT_ERROR(make({32 * kMegabyte}), kOutOfMemory, "no budget", "no live tensors");
  make({kMegabyte});
  EXPECT_ERROR(make({32 * kMegabyte}), kOutOfMemory, "unknown site");
}

TEST_F(Budget, AtMostTenSitesAreNamed) {
  for (int i = 0; i < 15; ++i) {
    make({16}, 0, SiteTable::instance().intern("site-" + std::to_string(100 + i)));
  }
  try {
    make({32 * kMegabyte});
    FAIL();
  } catch (const OutOfMemory& error) {
    const std::string message = error.what();
    std::size_t named = 0;
    for (auto at = message.find("site-"); at != std::string::npos;
         at = message.find("site-", at + 1))
      ++named;
    EXPECT_EQ(named, 10u);
  }
}

// Memory that has ended is in use until the device is done with it; nobody collects for that.
TEST_F(Budget, WhatTheDeviceStillWorksOnIsWaitedFor) {
  auto& device = dynamic_cast<SimulatedDevice&>(*cpu->heap());
  const StreamId stream = device.create_stream();
  const Handle used = make({12 * kMegabyte});
  StorageRef memory = context->hold(used);
  memory.note_use(stream);
  device.submit(stream, {{memory.data().data(), memory.data().size()}}, 1000);
  memory.reset();
  context->dispose(used);
  EXPECT_NO_THROW(make({12 * kMegabyte}));
  EXPECT_TRUE(host.collections.empty());
  EXPECT_TRUE(device.violations().empty());
  device.finish();
  device.destroy_stream(stream);
}

TEST_F(Budget, ARequestThatDoesNotFitClimbsTheLadder) {
  ReclaimOn on;
  cpu->set_budget(8 << 20, BudgetMode::kHard);
  std::vector<Handle> reachable;
  drop_at_major(reachable);
  for (int i = 0; i < 7; ++i) reachable.push_back(make({kMegabyte}));
  const Handle fits = make({4 * kMegabyte});
  EXPECT_EQ(host.collections, (std::vector{Collection::kMinor, Collection::kMajor}));
  EXPECT_EQ(ended(Reason::kReclaimed), 7u);
  EXPECT_LE(cpu->committed(), 8u << 20);
  context->dispose(fits);
}

TEST_F(Budget, ForeignOrphansAreNotEndedByALadderOfEbbsOwn) {
  ReclaimOn on;
  cpu->set_budget(4 << 20, BudgetMode::kHard);
  Context::orphan(adopt());
  EXPECT_ERROR(make({8 * kMegabyte}), kOutOfMemory, "cpu");
  EXPECT_TRUE(host.ends.empty());
}

TEST_F(Budget, AHardForeignBudgetIsAnErrorWhenPassed) {
  ReclaimOn on;
  wasm->set_budget(100, BudgetMode::kHard);
  adopt(60);
  EXPECT_EQ(context->safe_point(wasm.get(), 40).tensors, 0u);
  EXPECT_ERROR(context->safe_point(wasm.get(), 41), kOutOfMemory, "[safe_point]",
               "wasm has no room for 41 B", "budget 100 B");
  adopt(60);
  EXPECT_ERROR(context->safe_point(wasm.get()), kOutOfMemory, "wasm is full: budget 100 B");
}

TEST_F(Budget, AHardForeignBudgetDoesNotFailForAGuess) {
  ReclaimOn on;
  wasm->set_budget(100, BudgetMode::kHard);
  host.on_collect = [](Collection) { return 1; };
  adopt(60);  // the next may be as large, and would not fit
  for (int i = 0; i < 100; ++i) EXPECT_NO_THROW(context->safe_point(wasm.get()));
  EXPECT_NO_THROW(context->safe_point());
  EXPECT_LE(host.collections.size(), 2u);
}

TEST_F(Budget, ASoftOneWarnsOnceAndGoesOn) {
  ReclaimOn on;
  wasm->set_budget(1000, BudgetMode::kSoft);
  host.on_collect = [](Collection) { return 1; };
  const SiteId site = SiteTable::instance().intern("train.js:5");
  for (int i = 0; i < 30; ++i) {
    context->adopt({.device = wasm.get(), .bytes = 100, .site = site});
    EXPECT_NO_THROW(context->safe_point(wasm.get()));
  }
  ASSERT_EQ(host.warnings.size(), 1u);
  EXPECT_NE(host.warnings[0].find("wasm"), std::string::npos);
  EXPECT_NE(host.warnings[0].find("train.js:5"), std::string::npos);
  EXPECT_NE(host.warnings[0].find("budget of 0.98 KB"), std::string::npos) << host.warnings[0];
}

TEST_F(Budget, ASoftOneIsNotSaidToBePassedForAGuess) {
  ReclaimOn on;
  wasm->set_budget(100, BudgetMode::kSoft);
  host.on_collect = [](Collection) { return 1; };
  adopt(60);
  for (int i = 0; i < 100; ++i) context->safe_point(wasm.get());
  EXPECT_TRUE(host.warnings.empty());
  EXPECT_LE(host.collections.size(), 2u);
}

TEST_F(Budget, TheBirthsOfOneDeviceSayNothingOfAnother) {
  ReclaimOn on;
  OpenDevice gpu(DeviceOptions{.kind = DeviceKind::kForeign, .name = "webgl", .budget = 50});
  host.on_collect = [](Collection) { return 1; };
  context->adopt({.device = gpu.get(), .bytes = 10});
  for (int i = 0; i < 20; ++i) {
    adopt(1000);
    EXPECT_NO_THROW(context->safe_point());
  }
  EXPECT_TRUE(host.collections.empty());
  context.reset();
}

TEST_F(Budget, AnOverrunIsNotOverBecauseAnotherDeviceHasRoom) {
  ReclaimOn on;
  OpenDevice roomy(DeviceOptions{
      .kind = DeviceKind::kForeign, .name = "roomy", .budget = 1 << 20, .mode = BudgetMode::kSoft});
  wasm->set_budget(1000, BudgetMode::kSoft);
  host.on_collect = [](Collection) { return std::uint64_t{1} << 40; };  // very slow
  context->adopt({.device = roomy.get(), .bytes = 10});
  for (int i = 0; i < 200; ++i) {
    adopt(100);
    context->safe_point();
  }
  EXPECT_LE(host.collections.size(), 3u);
  context.reset();
}

TEST_F(Budget, BackUnderItTheNextOverrunIsTriedInFull) {
  ReclaimOn on;
  wasm->set_budget(1000, BudgetMode::kSoft);
  host.on_collect = [](Collection) { return std::uint64_t{1} << 40; };
  std::vector<Handle> handles;
  for (int i = 0; i < 12; ++i) handles.push_back(adopt(100));
  context->safe_point(wasm.get());
  const std::size_t first = host.collections.size();
  EXPECT_GT(first, 0u);
  for (const Handle handle : handles) context->dispose(handle);
  context->safe_point(wasm.get());  // below again
  for (int i = 0; i < 12; ++i) adopt(100);
  context->safe_point(wasm.get());
  EXPECT_GT(host.collections.size(), first);
  EXPECT_EQ(host.warnings.size(), 1u);
}

TEST_F(Budget, MakeRoomTriesAllAndSaysWhatItGot) {
  ReclaimOn on;
  std::vector<Handle> reachable{adopt(100), adopt(50)};
  drop_at_major(reachable);
  const Drained drained = context->make_room(*wasm, 120);
  EXPECT_EQ(drained.bytes, 150u);
  EXPECT_EQ(drained.collections, 2u);
  EXPECT_EQ(host.ends.size(), 2u);
  EXPECT_ERROR(context->make_room(*wasm, 1), kOutOfMemory, "[make_room]", "wasm");
}

TEST_F(Budget, MakeRoomStopsWhenItHasEnough) {
  ReclaimOn on;
  host.on_collect = [](Collection) { return 1; };
  Context::orphan(adopt(100));
  EXPECT_EQ(context->make_room(*wasm, 80).bytes, 100u);
  EXPECT_TRUE(host.collections.empty());
}

TEST_F(Budget, AllThirtyOneDevicesAreKeptUnderTheirs) {
  ReclaimOn on;
  // A closed device's place stays with its kind: leave one for the tests that follow.
  { OpenDevice left({.name = "system memory"}); }
  std::vector<Device*> devices;
  try {
    for (int i = 0;; ++i) {
      devices.push_back(&Device::open({.kind = DeviceKind::kForeign,
                                       .name = "device " + std::to_string(i),
                                       .budget = 10,
                                       .mode = BudgetMode::kSoft}));
    }
  } catch (const Error&) {
  }
  host.on_collect = [](Collection) { return 1; };
  for (Device* device : devices) context->adopt({.device = device, .bytes = 20});
  EXPECT_EQ(devices.back()->index(), kMaxDevices - 1);
  context->safe_point();
  EXPECT_EQ(host.warnings.size(), 1u);
  context.reset();
  for (Device* device : devices) Device::close(*device);
}

TEST_F(Budget, OtherContextsAreAskedAndAnswerAtTheirSafePoint) {
  ReclaimOn on;
  wasm->set_budget(100, BudgetMode::kHard);
  RecordingHost their_host;
  ContextPtr theirs = Context::create({.name = "worker", .host = &their_host});
  Handle dropped = theirs->adopt({.device = wasm.get(), .bytes = 80});
  their_host.on_collect = [&](Collection) {
    Context::orphan(dropped);
    return 1;
  };
  EXPECT_ERROR(context->safe_point(wasm.get(), 50), kOutOfMemory, "wasm");
  EXPECT_TRUE(their_host.collections.empty());  // not on our thread
  EXPECT_EQ(theirs->safe_point().bytes, 80u);
  EXPECT_EQ(their_host.collections, std::vector{Collection::kMajor});
  EXPECT_NO_THROW(context->safe_point(wasm.get(), 50));
  theirs->safe_point();
  EXPECT_EQ(their_host.collections.size(), 1u);  // asked once, answered once
}

TEST_F(Budget, ARequestWaitsForTheContextsItAsked) {
  ReclaimOn on;
  cpu->set_budget(4 << 20, BudgetMode::kHard);
  RecordingHost their_host;
  ContextPtr theirs = Context::create({.name = "worker", .host = &their_host});
  const Handle dropped = theirs->make({.device = cpu.get(), .shape = {3 * kMegabyte}});
  their_host.on_collect = [&](Collection) {
    Context::orphan(dropped);
    return 1;
  };
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (!done) theirs->safe_point();
  });
  Handle made = 0;
  EXPECT_NO_THROW(made = make({2 * kMegabyte}));
  done = true;
  worker.join();
  EXPECT_NE(made, 0u);
  theirs.reset();
}

TEST_F(Budget, ASecondThreadWaitsForTheFirstToComeBack) {
  ReclaimOn on;
  cpu->set_budget(4 << 20, BudgetMode::kHard);
  std::vector<Handle> reachable;
  for (int i = 0; i < 4; ++i) reachable.push_back(make({kMegabyte - 64}));
  std::atomic<bool> second_runs{false};
  host.on_collect = [&](Collection kind) {
    while (!second_runs) std::this_thread::yield();
    if (kind == Collection::kMajor) {
      for (const Handle handle : reachable) Context::orphan(handle);
    }
    return 1;
  };
  Handle a = 0, b = 0;
  std::thread second([&] {
    second_runs = true;
    b = make({kMegabyte - 64});
  });
  a = make({kMegabyte - 64});
  second.join();
  EXPECT_NE(a, 0u);
  EXPECT_NE(b, 0u);
}

}  // namespace
}  // namespace ebb::test
