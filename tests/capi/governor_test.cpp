// What the governor does for a host: pacing, soft budgets, threads, climbs under way.
#include <atomic>
#include <chrono>
#include <thread>

#include "capi/capi_fixture.hpp"

namespace {

using std::chrono::steady_clock;

class CapiGovernor : public CapiTest {
 protected:
  // The context of the test, made again with other options.
  template <typename Change>
  void reopen(Change&& change) {
    EXPECT_OK(ebb_context_destroy(context));
    ebb_context_options options = host.options("governed");
    change(options);
    ASSERT_OK(ebb_context_create(&options, &context));
  }
  // On Ebb's own device; 0: there was no room.
  ebb_handle try_create(uint64_t bytes) {
    const auto elements = static_cast<int64_t>(bytes);
    const ebb_tensor_spec spec = {sizeof spec, own, EBB_UINT8, 1, &elements, 0, 0, 0};
    ebb_handle handle = 0;
    return ebb_tensor_create(context, &spec, &handle) == EBB_OK ? handle : 0;
  }
  ebb_handle adopt_on(ebb_device device, uint64_t bytes) {
    ebb_foreign_spec spec = foreign_spec(0, bytes);
    spec.device = device;
    ebb_handle handle = 0;
    EXPECT_OK(ebb_tensor_adopt(context, &spec, &handle));
    return handle;
  }
};

// ---- pacing

TEST_F(CapiGovernor, SafePointsCollectEachStepOfGrowth) {
  reopen([](ebb_context_options& options) { options.minor_step = kMegabyte; });
  ebb_reclaim_set(1);
  uint64_t peak = 0;
  for (int i = 0; i < 1000; ++i) {
    host.garbage.push_back(adopt(0, 100 * kKilobyte));
    peak = std::max(peak, read().live_bytes);
    safe_point();
    if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_GE(host.minor, 50);
  EXPECT_EQ(host.major, 0);
  EXPECT_LE(peak, 2 * kMegabyte);
}

TEST_F(CapiGovernor, WithoutStepsSafePointsLeaveTheCollectorAlone) {
  ebb_reclaim_set(1);
  for (int i = 0; i < 1000; ++i) {
    adopt(0, kMegabyte);
    safe_point();
  }
  EXPECT_EQ(host.minor + host.major, 0);
}

TEST_F(CapiGovernor, WhatIsNotBookedYetIsPressureToo) {
  reopen([](ebb_context_options& options) { options.major_step = kMegabyte; });
  ebb_reclaim_set(1);
  safe_point(0, kMegabyte);
  EXPECT_EQ(host.major, 0);
  safe_point(0, kMegabyte + 1);
  EXPECT_EQ(host.major, 1);
}

TEST_F(CapiGovernor, LiveNamesArePressureLikeBytes) {
  reopen([](ebb_context_options& options) {
    options.major_step = kMegabyte;
    options.name_bytes = kKilobyte;
  });
  ebb_reclaim_set(1);
  for (int i = 0; i < 1024; ++i) adopt(0, 0);
  safe_point();
  EXPECT_EQ(host.major, 0);
  adopt(0, 0);
  safe_point();
  EXPECT_EQ(host.major, 1);
}

TEST_F(CapiGovernor, InAScopeThePacingWaitsLonger) {
  reopen([](ebb_context_options& options) { options.minor_step = kMegabyte; });
  ebb_reclaim_set(1);
  adopt(0, 10 * kMegabyte);
  EXPECT_OK(ebb_safe_point(context, 0, 0, EBB_SAFE_POINT_SCOPED, nullptr));
  EXPECT_EQ(host.minor, 0);
  safe_point();
  EXPECT_EQ(host.minor, 1);
  EXPECT_STATUS(ebb_safe_point(context, 0, 0, 2, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiGovernor, IdleLooksGiveBackWhatAQuietProgramDropped) {
  uint32_t again = 7;
  EXPECT_OK(ebb_idle(context, &again, nullptr));
  EXPECT_EQ(again, 0u) << "reclaim is off";
  ebb_reclaim_set(1);
  host.garbage.push_back(adopt(0, kMegabyte));
  auto drained = sized<ebb_drained>();
  uint64_t bytes = 0;
  int looks = 0;
  do {
    EXPECT_OK(ebb_idle(context, &again, &drained));
    bytes += drained.bytes;
    ++looks;
  } while (again != 0);
  EXPECT_EQ(bytes, kMegabyte);
  EXPECT_EQ(host.major, 2);
  EXPECT_EQ(looks, 5);
  EXPECT_STATUS(ebb_idle(context, nullptr, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiGovernor, WalksThatCostMoreThanACollectionCauseOne) {
  ebb_reclaim_set(1);
  host.garbage.push_back(adopt(0, kMegabyte));
  auto drained = sized<ebb_drained>();
  EXPECT_OK(ebb_walk(context, 3, 0, &drained));
  for (int i = 0; i < 100 && drained.collected == 0; ++i) {
    EXPECT_OK(ebb_walk(context, 3, 1000, &drained));
  }
  EXPECT_EQ(host.major, 1);
  EXPECT_EQ(drained.bytes, kMegabyte);
}

// ---- soft budgets

TEST_F(CapiGovernor, ASoftBudgetOfEbbsOwnMemoryWarnsOnceAndGoesOn) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_SOFT));
  for (int i = 0; i < 40; ++i) EXPECT_NE(try_create(kMegabyte), 0u) << i;
  EXPECT_EQ(host.warnings.size(), 1u);
  EXPECT_GE(host.major, 1);
  EXPECT_GE(describe_device(own).committed, 40 * kMegabyte);
  EXPECT_STATUS(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD), EBB_OK);
  EXPECT_EQ(try_create(kMegabyte), 0u) << "a hard one is";
}

TEST_F(CapiGovernor, ASoftBudgetOfEbbsOwnMemoryIsKeptWhereTheLiveSetFits) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_SOFT));
  for (int i = 0; i < 200; ++i) host.garbage.push_back(try_create(kMegabyte));
  EXPECT_TRUE(host.warnings.empty());
  EXPECT_LE(describe_device(own).peak_committed, 8 * kMegabyte);
}

TEST_F(CapiGovernor, ASoftBudgetOfEbbsOwnMemoryIsKeptAgainAfterAnOverrun) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_SOFT));
  std::vector<ebb_handle> kept;
  for (int i = 0; i < 16; ++i) kept.push_back(try_create(kMegabyte));
  EXPECT_OK(ebb_tensors_end(context, kept.data(), kept.size(), EBB_ENDED_DISPOSED));
  for (int i = 0; i < 200; ++i) host.garbage.push_back(try_create(kMegabyte));
  EXPECT_LE(describe_device(own).committed, 8 * kMegabyte);
}

TEST_F(CapiGovernor, ADeviceItselfIsAHardLimit) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_SOFT));
  int made = 0;
  while (try_create(kMegabyte) != 0) ++made;
  EXPECT_GE(made, 60);
  EXPECT_LE(made, 64) << "its capacity";
}

TEST_F(CapiGovernor, OneDeviceOverItsSoftBudgetLeavesTheOthersAlone) {
  ebb_reclaim_set(1);
  const ebb_device other = open_device(EBB_DEVICE_FOREIGN, "other", 0, kMegabyte, EBB_BUDGET_SOFT);
  EXPECT_OK(ebb_device_set_budget(foreign, kMegabyte, EBB_BUDGET_SOFT));
  for (int i = 0; i < 20; ++i) {  // all of it reachable
    safe_point(other);
    adopt_on(other, kMegabyte / 10);
  }
  EXPECT_EQ(host.warnings.size(), 1u);
  host.cost = 1'000'000'000;  // a ration for the one would leave the other without any
  for (int i = 0; i < 300; ++i) {
    safe_point(foreign);
    host.garbage.push_back(adopt(0, kMegabyte / 10));
  }
  EXPECT_LE(describe_device(foreign).peak_committed, kMegabyte + kMegabyte / 10);
  EXPECT_EQ(host.warnings.size(), 1u);
  EXPECT_OK(ebb_context_destroy(context));
  context = 0;
  EXPECT_OK(ebb_device_close(other));
}

TEST_F(CapiGovernor, ABudgetALittleBelowTheLiveSetHoldsOneAndAHalfTimesIt) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(foreign, 190 * kMegabyte, EBB_BUDGET_SOFT));
  for (int i = 0; i < 100; ++i) {
    safe_point(foreign);
    adopt(0, 2 * kMegabyte);
  }
  for (int i = 0; i < 2000; ++i) {
    safe_point(foreign);
    host.garbage.push_back(adopt(0, 2 * kMegabyte));
  }
  EXPECT_LE(describe_device(foreign).peak_committed, 302 * kMegabyte);
  EXPECT_EQ(host.warnings.size(), 1u);
  EXPECT_LE(host.major, 50);
}

// ---- climbs and threads

TEST_F(CapiGovernor, ASafePointInsideEndDoesNotRecurse) {
  constexpr size_t kOrphans = 200'000;
  ebb_reclaim_set(1);
  for (size_t i = 0; i < kOrphans; ++i) ebb_orphan(adopt(0, 1));
  host.in_end = [&] { safe_point(); };
  safe_point();
  EXPECT_EQ(host.ended.size(), kOrphans);
  EXPECT_EQ(read().reclaimed, kOrphans);
}

TEST_F(CapiGovernor, ASecondThreadWaitsForTheClimbUnderWay) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD));
  std::vector<ebb_handle> garbage;
  for (int i = 0; i < 6; ++i) garbage.push_back(try_create(kMegabyte));
  std::atomic<bool> collecting{false};
  host.in_collect = [&] {
    if (collecting.exchange(true)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    for (const ebb_handle dead : garbage) ebb_orphan(dead);
  };
  std::thread first([&] { EXPECT_NE(try_create(4 * kMegabyte), 0u); });
  while (!collecting) std::this_thread::yield();
  EXPECT_NE(try_create(4 * kMegabyte), 0u) << "it waits for what the other finds";
  first.join();
}

TEST_F(CapiGovernor, AHostThatCannotCollectNowFailsAtOnce) {
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD));
  host.cost = EBB_CANNOT_COLLECT;
  while (try_create(kMegabyte) != 0) {
  }
  EXPECT_GT(host.minor + host.major, 0) << "it was asked";
  EXPECT_EQ(read().collections_minor + read().collections_major, 0u);
  EXPECT_EQ(read().collect_ns, 0u);
}

class CapiBoundContext : public CapiGovernor {
 protected:
  void SetUp() override {
    CapiGovernor::SetUp();
    reopen([](ebb_context_options& options) { options.flags = EBB_CONTEXT_THREAD; });
    ebb_reclaim_set(1);
    EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD));
    for (int i = 0; i < 6; ++i) host.garbage.push_back(try_create(kMegabyte));
    host.in_collect = [&] { collector = std::this_thread::get_id(); };
  }
  std::thread::id collector;
};

TEST_F(CapiBoundContext, CollectsInsideAnAllocationOfItsThread) {
  EXPECT_NE(try_create(6 * kMegabyte), 0u);
  EXPECT_EQ(collector, std::this_thread::get_id());
}

TEST_F(CapiBoundContext, AnotherThreadAsksAndWaits) {
  std::atomic<int> made{-1};
  std::thread other([&] { made = try_create(6 * kMegabyte) != 0; });
  while (made < 0) {
    safe_point();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  other.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(collector, std::this_thread::get_id());
}

TEST_F(CapiBoundContext, AnotherThreadFailsWhereNobodyComesBy) {
  const auto start = steady_clock::now();
  std::thread([&] { EXPECT_EQ(try_create(6 * kMegabyte), 0u); }).join();
  EXPECT_LE(steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(collector, std::thread::id());
}

TEST_F(CapiBoundContext, AnotherThreadEndsNothingForeign) {
  ebb_orphan(adopt(0, 100));
  ebb_orphan(create(kKilobyte));
  std::thread([&] {
    EXPECT_EQ(safe_point().tensors, 1u);
    uint32_t again = 1;
    EXPECT_OK(ebb_idle(context, &again, nullptr));
    EXPECT_OK(ebb_collect(context, EBB_COLLECT_MAJOR, 0, nullptr));
  }).join();
  EXPECT_TRUE(host.ended.empty());
  EXPECT_EQ(collector, std::thread::id());
  EXPECT_EQ(safe_point().tensors, 1u);
  EXPECT_EQ(host.ended.size(), 1u);
}

}  // namespace
