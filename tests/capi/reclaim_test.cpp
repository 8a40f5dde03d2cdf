#include <thread>

#include "capi/capi_fixture.hpp"

namespace {

class CapiReclaim : public CapiTest {};

TEST_F(CapiReclaim, IsASwitch) {
  EXPECT_EQ(ebb_reclaim_get(), 0);
  ebb_reclaim_set(7);
  EXPECT_EQ(ebb_reclaim_get(), 1);
  ebb_reclaim_set(0);
  EXPECT_EQ(ebb_reclaim_get(), 0);
}

TEST_F(CapiReclaim, OrphansWaitWhileItIsOff) {
  const ebb_handle handle = create(kKilobyte);
  ebb_orphan(handle);
  ebb_orphan(handle);
  EXPECT_EQ(safe_point().tensors, 0u);
  EXPECT_EQ(read().orphans, 1u);
  EXPECT_EQ(describe(handle).orphaned, 1u);
  ebb_reclaim_set(1);
  const ebb_drained drained = safe_point();
  EXPECT_EQ(drained.tensors, 1u);
  EXPECT_EQ(drained.bytes, kKilobyte);
  EXPECT_TRUE(stale(handle));
  EXPECT_EQ(read().reclaimed, 1u);
  EXPECT_EQ(read().peak_orphans, 1u);
}

TEST_F(CapiReclaim, ForeignOrphansComeBackAtSafePointsOnly) {
  ebb_reclaim_set(1);
  ebb_orphan(adopt(0, 100, 42));
  create(kKilobyte);
  EXPECT_TRUE(host.ended.empty()) << "a birth may be inside the host's kernel";
  EXPECT_EQ(safe_point().bytes, 100u);
  ASSERT_EQ(host.ended.size(), 1u);
  EXPECT_EQ(host.ended[0].tag, 42u);
  EXPECT_EQ(host.ended[0].reason, static_cast<uint32_t>(EBB_ENDED_RECLAIMED));
}

TEST_F(CapiReclaim, NoticesForNothing) {
  const ebb_handle disposed = create(1);
  EXPECT_OK(ebb_tensor_dispose(context, disposed));
  for (const ebb_handle name : {uint64_t{0}, uint64_t{1}, disposed, disposed + 1, UINT64_MAX}) {
    ebb_orphan(name);
  }
  ebb_reclaim_set(1);
  EXPECT_EQ(safe_point().tensors, 0u);
}

TEST_F(CapiReclaim, ANoticeAfterItsContextEnded) {
  const ebb_handle handle = create(1);
  EXPECT_OK(ebb_context_destroy(context));
  context = 0;
  ebb_orphan(handle);
}

TEST_F(CapiReclaim, NoticesFromOtherThreads) {
  std::vector<ebb_handle> all;
  for (int i = 0; i < 4000; ++i) all.push_back(create(64));
  ebb_reclaim_set(1);
  std::thread first([&] {
    for (const ebb_handle handle : all) ebb_orphan(handle);
  });
  std::thread second([&] {
    for (const ebb_handle handle : all) ebb_tensor_dispose(context, handle);
  });
  first.join();
  second.join();
  safe_point();
  EXPECT_EQ(read().live, 0u);
}

TEST_F(CapiReclaim, PressureCollects) {
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD));
  ebb_reclaim_set(1);
  for (int i = 0; i < 100; ++i) host.garbage.push_back(create(kMegabyte));
  EXPECT_GT(host.minor + host.major, 0);
  EXPECT_LE(describe_device(own).committed, 8 * kMegabyte);
  EXPECT_GT(read().collections_minor + read().collections_major, 0u);
  EXPECT_GT(read().collect_ns, 0u);
}

TEST_F(CapiReclaim, WithoutReclaimTheErrorNamesTheSites) {
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_HARD));
  ebb_site site = 0;
  ASSERT_OK(ebb_site_intern("train (train.js:12)\nmain (main.js:3)", &site));
  ebb_status status = EBB_OK;
  for (int i = 0; i < 100 && status == EBB_OK; ++i) {
    const ebb_tensor_spec spec = spec_of(kMegabyte, 0, site);
    ebb_handle handle = 0;
    status = ebb_tensor_create(context, &spec, &handle);
  }
  EXPECT_EQ(status, EBB_OUT_OF_MEMORY);
  EXPECT_NE(std::string(ebb_last_error()).find("train.js:12"), std::string::npos)
      << ebb_last_error();
  EXPECT_EQ(host.minor + host.major, 0);
}

TEST_F(CapiReclaim, ASoftBudgetWarnsOnce) {
  EXPECT_OK(ebb_device_set_budget(foreign, 1000, EBB_BUDGET_SOFT));
  ebb_reclaim_set(1);
  for (int i = 0; i < 50; ++i) {
    adopt(0, 100);
    safe_point(foreign);
  }
  EXPECT_EQ(host.warnings.size(), 1u);
}

TEST_F(CapiReclaim, AHardForeignBudgetFailsAtTheSafePoint) {
  EXPECT_OK(ebb_device_set_budget(foreign, 1000, EBB_BUDGET_HARD));
  ebb_reclaim_set(1);
  adopt(0, 2000);
  EXPECT_STATUS(ebb_safe_point(context, foreign, 0, 0, nullptr), EBB_OUT_OF_MEMORY);
  EXPECT_STATUS(ebb_safe_point(context, foreign, UINT64_MAX, 0, nullptr), EBB_OUT_OF_MEMORY);
}

// What was born on one device says nothing about the next birth on another.
TEST_F(CapiReclaim, BudgetsAreHeldApart) {
  const ebb_device small = open_device(EBB_DEVICE_FOREIGN, "small", 0, 1000, EBB_BUDGET_SOFT);
  ebb_reclaim_set(1);
  const ebb_foreign_spec spec = [&] {
    ebb_foreign_spec each = foreign_spec(0, 10);
    each.device = small;
    return each;
  }();
  ebb_handle handle = 0;
  ASSERT_OK(ebb_tensor_adopt(context, &spec, &handle));
  adopt(0, 100 * kMegabyte);
  safe_point();
  EXPECT_EQ(host.minor + host.major, 0);
  EXPECT_TRUE(host.warnings.empty());
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_OK(ebb_device_close(small));
}

TEST_F(CapiReclaim, CollectNow) {
  auto drained = sized<ebb_drained>();
  host.garbage = {create(kKilobyte)};
  EXPECT_OK(ebb_collect(context, EBB_COLLECT_MAJOR, 0, &drained));
  EXPECT_EQ(host.major, 0) << "reclaim is off";
  ebb_reclaim_set(1);
  EXPECT_OK(ebb_collect(context, EBB_COLLECT_MAJOR, 0, &drained));
  EXPECT_EQ(host.major, 1);
  EXPECT_EQ(drained.collected, 1u);
  EXPECT_EQ(drained.tensors, 1u);
  EXPECT_EQ(drained.bytes, kKilobyte);
  EXPECT_OK(ebb_collect(context, EBB_COLLECT_MINOR, 1, nullptr));
  EXPECT_EQ(host.minor, 0) << "nothing was born since";
  EXPECT_STATUS(ebb_collect(context, 2, 0, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiReclaim, MakeRoom) {
  auto drained = sized<ebb_drained>();
  EXPECT_STATUS(ebb_make_room(context, foreign, 100, &drained), EBB_OUT_OF_MEMORY);
  ebb_reclaim_set(1);
  host.garbage = {adopt(0, 100)};
  EXPECT_OK(ebb_make_room(context, foreign, 100, &drained));
  EXPECT_EQ(drained.bytes, 100u);
  EXPECT_STATUS(ebb_make_room(context, 0, 100, &drained), EBB_STALE_HANDLE);
  EXPECT_STATUS(ebb_make_room(context, foreign, UINT64_MAX, nullptr), EBB_OUT_OF_MEMORY);
}

TEST_F(CapiReclaim, TheLadderDoesNotRunInsideACollection) {
  EXPECT_OK(ebb_device_set_budget(own, 4 * kMegabyte, EBB_BUDGET_HARD));
  ebb_reclaim_set(1);
  int depth = 0, deepest = 0;
  host.in_collect = [&] {
    deepest = std::max(deepest, ++depth);
    const ebb_tensor_spec spec = spec_of(64 * kMegabyte);
    ebb_handle handle = 0;
    EXPECT_STATUS(ebb_tensor_create(context, &spec, &handle), EBB_OUT_OF_MEMORY);
    EXPECT_OK(ebb_collect(context, EBB_COLLECT_MAJOR, 0, nullptr));
    --depth;
  };
  const ebb_tensor_spec spec = spec_of(63 * kMegabyte);
  ebb_handle handle = 0;
  EXPECT_STATUS(ebb_tensor_create(context, &spec, &handle), EBB_OUT_OF_MEMORY);
  EXPECT_EQ(deepest, 1);
}

}  // namespace
