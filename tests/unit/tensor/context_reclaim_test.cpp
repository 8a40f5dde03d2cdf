// Orphans: noticed, waiting, given back; with reclaim off and on, and collections inside it.
#include <chrono>
#include <thread>
#include <vector>

#include "ebb/memory/trace.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using Reclaim = ContextTest;

TEST_F(Reclaim, IsOffAtFirstAndOrphansWait) {
  const Handle own = make(), foreign = adopt();
  Context::orphan(own);
  Context::orphan(foreign);
  EXPECT_EQ(context->memory().orphans, 2u);
  EXPECT_EQ(context->safe_point().tensors, 0u);
  EXPECT_TRUE(context->describe(own).orphaned);
  EXPECT_EQ(books().live, 2u);
}

TEST_F(Reclaim, SwitchedOnLaterItFindsThoseThatWait) {
  for (int i = 0; i < 100; ++i) Context::orphan(i % 2 == 0 ? make() : adopt());
  context->safe_point();
  EXPECT_EQ(context->memory().orphans, 100u);
  {
    ReclaimOn on;
    EXPECT_EQ(context->safe_point().tensors, 100u);
  }
  EXPECT_EQ(host.ends.size(), 50u);
  EXPECT_EQ(ended(Reason::kReclaimed), 100u);
  EXPECT_EQ(context->memory().orphans, 0u);
  EXPECT_EQ(context->memory().peak_orphans, 100u);
  for (int i = 0; i < 10; ++i) Context::orphan(make());  // and off again
  EXPECT_EQ(context->safe_point().tensors, 0u);
  EXPECT_EQ(context->memory().orphans, 10u);
}

TEST_F(Reclaim, GivesBackAtTheNextSafePoint) {
  ReclaimOn on;
  const Handle handle = adopt(100, 4, 0, 9);
  Context::orphan(handle);
  EXPECT_EQ(books().live, 1u);
  const Drained drained = context->safe_point();
  EXPECT_EQ(drained.tensors, 1u);
  EXPECT_EQ(drained.bytes, 100u);
  ASSERT_EQ(host.ends.size(), 1u);
  EXPECT_EQ(host.ends[0].handle, handle);
  EXPECT_EQ(host.ends[0].tag, 9u);
  EXPECT_EQ(host.ends[0].reason, Reason::kReclaimed);
  EXPECT_GT(context->memory().lag_max_ns, 0u);
  EXPECT_FALSE(context->dispose(handle));
}

// Reading the books, or a birth, takes notices off the queue: those that wait then have waited since
// they came.
TEST_F(Reclaim, TheLagIsThatOfTheOldestNoticeWhoeverTookItOffTheQueue) {
  constexpr std::uint64_t kWaited = 20'000'000;
  ReclaimOn on;
  for (const bool by_a_birth : {false, true}) {
    Context::orphan(adopt());
    std::this_thread::sleep_for(std::chrono::nanoseconds(kWaited));
    by_a_birth ? static_cast<void>(make()) : static_cast<void>(context->memory());
    Context::orphan(adopt());
    EXPECT_EQ(context->safe_point().tensors, 2u);
    EXPECT_GE(context->memory().lag_last_ns, kWaited);
    Context::orphan(adopt());
    context->safe_point();
    EXPECT_LT(context->memory().lag_last_ns, context->memory().lag_max_ns);
  }
}

TEST_F(Reclaim, ABirthDrainsEbbsOwnAndLeavesTheForeign) {
  ReclaimOn on;
  Context::orphan(make());
  Context::orphan(adopt());
  make();
  EXPECT_EQ(ended(Reason::kReclaimed), 1u);
  EXPECT_TRUE(host.ends.empty());
  EXPECT_EQ(context->memory().orphans, 1u);
  EXPECT_EQ(context->safe_point().tensors, 1u);
}

TEST_F(Reclaim, NoticesForWhatHasEndedDoNothing) {
  ReclaimOn on;
  const Handle handle = make();
  context->dispose(handle);
  for (const Handle stale : {handle, Handle{0}, ~Handle{0}, handle + 1, handle + (Handle{1} << 24)})
    Context::orphan(stale);
  const Handle next = make();
  Context::orphan(handle);
  context->safe_point();
  EXPECT_EQ(context->memory().orphans, 0u);
  EXPECT_TRUE(context->dispose(next));
}

TEST_F(Reclaim, ASecondNoticeDoesNothing) {
  const Handle handle = make();
  Context::orphan(handle);
  Context::orphan(handle);
  EXPECT_EQ(context->memory().orphans, 1u);
  Context::orphan(handle);
  EXPECT_EQ(context->memory().orphans, 1u);
}

TEST_F(Reclaim, ADisposeBeforeTheQueueIsReadWins) {
  const Handle handle = make();
  Context::orphan(handle);
  EXPECT_TRUE(context->dispose(handle));
  const Handle other = make();  // not in the slot that is still queued
  EXPECT_EQ(context->memory().orphans, 0u);
  EXPECT_EQ(ended(Reason::kDisposed), 1u);
  EXPECT_TRUE(context->dispose(other));
}

TEST_F(Reclaim, ADisposeAfterTheQueueIsReadWinsToo) {
  const Handle a = make(), b = adopt(), c = make();
  for (const Handle handle : {a, b, c}) Context::orphan(handle);
  EXPECT_EQ(context->memory().orphans, 3u);  // now in the waiting lists
  EXPECT_TRUE(context->dispose(c));
  EXPECT_TRUE(context->dispose(a));
  EXPECT_EQ(context->memory().orphans, 1u);
  ReclaimOn on;
  EXPECT_EQ(context->safe_point().tensors, 1u);
}

TEST_F(Reclaim, ARegionThatEndsTakesItsOrphansAlong) {
  const RegionId region = context->open();
  const Handle queued = make({4}, region), waiting = adopt(1, 0, region);
  Context::orphan(waiting);
  context->memory();
  Context::orphan(queued);
  context->close(region);
  EXPECT_EQ(ended(Reason::kRegion), 2u);
  EXPECT_EQ(context->memory().orphans, 0u);
}

TEST_F(Reclaim, OrphansOfARegionLeaveIt) {
  ReclaimOn on;
  const RegionId region = context->open();
  for (int i = 0; i < 500; ++i) Context::orphan(adopt(1, 0, region));
  EXPECT_EQ(context->safe_point().tensors, 500u);
  EXPECT_EQ(context->describe_region(region).tensors, 0u);
}

TEST_F(Reclaim, AHeldOrphanIsEndedAndItsMemoryComesLater) {
  ReclaimOn on;
  const Handle handle = make();
  StorageRef held = context->hold(handle);
  Context::orphan(handle);
  const Drained drained = context->safe_point();
  EXPECT_EQ(drained.tensors, 1u);
  EXPECT_EQ(drained.bytes, 0u);
  EXPECT_EQ(books().held.count, 1u);
}

TEST_F(Reclaim, ManyViewsOfOneStorageAreDrained) {
  ReclaimOn on;
  const Handle base = make();
  for (int i = 0; i < 2000; ++i) Context::orphan(context->view(base, 0, {.shape = {1}}));
  EXPECT_EQ(context->safe_point().tensors, 2000u);
  set_reclaim(false);
  for (int i = 0; i < 2000; ++i) Context::orphan(context->view(base, 0, {.shape = {1}}));
  EXPECT_EQ(context->memory().orphans, 2000u);
  set_reclaim(true);
  EXPECT_EQ(context->safe_point().tensors, 2000u);
}

TEST_F(Reclaim, NoticesComeFromAnyThread) {
  ReclaimOn on;
  std::vector<Handle> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(adopt());
  std::thread collector([&] {
    for (const Handle handle : handles) Context::orphan(handle);
  });
  collector.join();
  EXPECT_EQ(context->safe_point().tensors, 1000u);
}

TEST_F(Reclaim, CollectMakesTheHostCollectAndGivesBack) {
  ReclaimOn on;
  const Handle dropped = adopt(70);
  host.on_collect = [&](Collection) {
    Context::orphan(dropped);
    return 5;
  };
  const Drained drained = context->collect(Collection::kMinor);
  EXPECT_EQ(drained.collections, 1u);
  EXPECT_EQ(drained.bytes, 70u);
  EXPECT_EQ(host.collections, std::vector{Collection::kMinor});
  EXPECT_EQ(context->memory().collections.minor, 1u);
  EXPECT_EQ(context->memory().collections.total_ns, 5u);
  EXPECT_EQ(context->collect(Collection::kMajor, true).collections, 0u);  // nothing was born
}

TEST_F(Reclaim, OffNothingIsCollected) {
  host.on_collect = [](Collection) { return 1; };
  adopt(100);
  wasm->set_budget(10, BudgetMode::kHard);
  EXPECT_EQ(context->collect(Collection::kMajor).collections, 0u);
  EXPECT_EQ(context->safe_point(wasm.get(), 100).collections, 0u);
  EXPECT_ERROR(context->make({.device = cpu.get(), .shape = {32 << 20}}), kOutOfMemory,
               "reclaim is off");
  EXPECT_TRUE(host.collections.empty());
}

TEST_F(Reclaim, ACollectionThatReportsNoTimeIsMeasured) {
  ReclaimOn on;
  host.on_collect = [](Collection) { return 0; };
  context->collect(Collection::kMajor);
  EXPECT_GT(context->memory().collections.total_ns, 0u);
}

TEST_F(Reclaim, InsideACollectionThereIsNoSecondOne) {
  ReclaimOn on;
  int depth = 0;
  host.on_collect = [&](Collection) {
    EXPECT_EQ(++depth, 1);
    EXPECT_EQ(context->collect(Collection::kMajor).collections, 0u);
    EXPECT_ERROR(context->make({.device = cpu.get(), .shape = {32 << 20}}), kOutOfMemory, "cpu");
    EXPECT_NO_THROW(Context::audit());
    context->dispose(make());  // what fits is made
    --depth;
    return 1;
  };
  context->collect(Collection::kMajor);
  EXPECT_EQ(host.collections.size(), 1u);
}

TEST_F(Reclaim, AnErrorInACollectionLeavesTheContextUsable) {
  ReclaimOn on;
  host.on_collect = [](Collection) -> std::uint64_t { throw std::runtime_error("interrupted"); };
  EXPECT_THROW(context->collect(Collection::kMajor), std::runtime_error);
  host.on_collect = [](Collection) { return 1; };
  EXPECT_EQ(context->collect(Collection::kMajor).collections, 1u);
}

TEST_F(Reclaim, TheHostMayNotEndTheContextInsideACollection) {
  ReclaimOn on;
  const Handle dropped = adopt(70);
  const ContextPtr other = Context::create({.name = "other"});
  host.on_collect = [&](Collection) {
    EXPECT_ERROR(context->close(), kWrongState, "callback");
    EXPECT_TRUE(other->close());  // but another one
    Context::orphan(dropped);
    return 1;
  };
  EXPECT_EQ(context->collect(Collection::kMajor).tensors, 1u);
  EXPECT_FALSE(other->close());
}

TEST_F(Reclaim, CollectionsAreTraced) {
  ReclaimOn on;
  trace::set(true);
  trace::clear();
  host.on_collect = [](Collection) { return 123; };
  context->collect(Collection::kMajor);
  context->dispose(make());
  std::vector<EventKind> kinds;
  for (const TraceEvent& event : trace::snapshot()) {
    if (event.kind >= EventKind::kUser) kinds.push_back(event.kind);
    if (event.kind == kCollected) {
      EXPECT_EQ(event.id, 123u);
    }
  }
  EXPECT_EQ(kinds, (std::vector{kCollected, kTensorBorn, kTensorEnded}));
  trace::set(false);
  trace::clear();
}

TEST_F(Reclaim, TheHostMayUseTheContextWhileItIsToldOfEnds) {
  ReclaimOn on;
  for (int i = 0; i < 100; ++i) Context::orphan(adopt(1));
  int nested = 0;
  host.on_end = [&](std::span<const ForeignEnd>) {
    if (++nested > 3) return;
    Context::orphan(adopt(1));
    context->safe_point();
    EXPECT_NO_THROW(Context::audit());
  };
  context->safe_point();
  context->safe_point();
  EXPECT_EQ(host.ends.size(), 103u);
  EXPECT_EQ(books().live, 0u);
}

}  // namespace
}  // namespace ebb::test
