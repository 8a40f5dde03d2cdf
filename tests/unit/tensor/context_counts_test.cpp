// What is counted, and what a record's last life must leave behind for the next one: nothing.
#include <vector>

#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using Counts = ContextTest;

TEST_F(Counts, TheUnwatchedMoveWithTheirStorage) {
  OpenDevice gpu(DeviceOptions{.kind = DeviceKind::kForeign, .name = "webgl"});
  const auto unwatched = [&](std::uint64_t key) {
    return context->adopt({.device = wasm.get(), .key = key, .bytes = 10, .watched = false});
  };
  const Handle a = unwatched(3), ended = unwatched(3), b = adopt(10, 3);
  context->dispose(ended);
  context->rebook(a, gpu.get(), 10);
  EXPECT_EQ(context->memory(wasm.get()).books.unwatched, 0u);
  EXPECT_EQ(context->memory(gpu.get()).books.unwatched, 1u);
  context->dispose(a);
  context->dispose(b);
  EXPECT_EQ(context->memory(gpu.get()).books.unwatched, 0u);
  context.reset();
}

TEST_F(Counts, DataWithoutAKeyIsRebookedAsOftenAsThereIsSome) {
  OpenDevice gpu(DeviceOptions{.kind = DeviceKind::kForeign, .name = "webgl"});
  const Handle a = adopt(100), b = adopt(50);
  context->rebook(a, gpu.get(), 100);
  context->rebook(b, gpu.get(), 50);
  EXPECT_EQ(gpu->in_use(), 150u);
  context.reset();
}

TEST_F(Counts, ManyThatTheHostEndedItself) {
  std::vector<Handle> handles;
  for (int i = 0; i < 3000; ++i) handles.push_back(adopt(1));
  handles.push_back(handles.front());  // which has ended by then
  handles.push_back(make());
  EXPECT_EQ(context->end_all(handles, Reason::kRegion), 3001u);
  EXPECT_EQ(books().live, 0u);
  EXPECT_EQ(ended(Reason::kRegion), 3001u);
  EXPECT_TRUE(host.ends.empty()) << "it knows";
}

TEST_F(Counts, OfAllContextsAreSummed) {
  ReclaimOn on;
  RecordingHost second;
  ContextPtr other = Context::create({.name = "other", .host = &second});
  const MemoryReading before = Context::total_memory();
  host.on_collect = second.on_collect = [](Collection) { return 40; };
  set_reclaim(false);
  for (const ContextPtr* each : {&context, &other}) {
    Context::orphan((*each)->adopt({.device = wasm.get(), .bytes = 1}));
    static_cast<void>((*each)->memory());
  }
  EXPECT_EQ(Context::total_memory().orphans, 2u);
  EXPECT_EQ(Context::total_memory().peak_orphans, before.peak_orphans + 2);
  set_reclaim(true);
  context->collect(Collection::kMinor);
  other->collect(Collection::kMinor);
  const auto check = [&](const char* when) {
    const CollectionCosts now = Context::total_memory().collections;
    EXPECT_EQ(now.minor, before.collections.minor + 2) << when;
    EXPECT_EQ(now.total_ns, before.collections.total_ns + 80) << when;
  };
  check("open");
  other.reset();
  check("one has ended");
}

TEST_F(Counts, ASafePointSaysHowOftenItCollected) {
  ReclaimOn on;
  host.on_collect = [](Collection) { return 1; };
  wasm->set_budget(150, BudgetMode::kSoft);
  adopt(100);
  adopt(100);
  const std::uint64_t said = context->safe_point().collections;
  EXPECT_EQ(said, host.collections.size());
  EXPECT_FALSE(host.collections.empty());
}

TEST_F(Counts, WithReclaimOffALookInIdleTimeCollectsNothing) {
  host.on_collect = [](Collection) { return 1; };
  for (int i = 0; i < 200; ++i) {
    if (i < 150) adopt(1);
    context->idle();
  }
  EXPECT_TRUE(host.collections.empty());
}

TEST_F(Counts, AHostThatCannotCollectIsNotAskedTo) {
  ReclaimOn on;
  ContextPtr paced =
      Context::create({.name = "paced", .host = &host, .minor_step = 100, .major_step = 100});
  for (int i = 0; i < 50; ++i) {
    paced->adopt({.device = wasm.get(), .bytes = 100});
    EXPECT_NO_THROW(paced->safe_point());
    EXPECT_NO_THROW(paced->walk(1, 1'000'000 + static_cast<std::uint64_t>(i) * 1'000'000));
  }
  EXPECT_TRUE(host.collections.empty());
}

TEST_F(Counts, InANewContextNothingWasBorn) {
  ReclaimOn on;
  adopt(1000);
  context.reset();  // the next one takes its place
  host.on_collect = [](Collection) { return 1; };
  context = Context::create({.name = "next", .host = &host});
  context->collect(Collection::kMajor, true);
  EXPECT_TRUE(host.collections.empty());
  adopt(1);
  context->collect(Collection::kMajor, true);
  EXPECT_EQ(host.collections.size(), 1u);
}

TEST_F(Counts, ASafePointInsideTheEndsEndsWhatWaits) {
  ReclaimOn on;
  Context::orphan(adopt(1));
  std::size_t inside = 0;
  host.on_end = [&](std::span<const ForeignEnd>) {
    if (host.ends.size() > 1) return;
    Context::orphan(adopt(1));
    context->safe_point();
    inside = host.ends.size();
  };
  context->safe_point();
  EXPECT_EQ(inside, 2u);
}

TEST_F(Counts, ALoweredBudgetIsReachedByMakingMore) {
  const Handle large = make({1 << 20});
  make();
  cpu->set_budget(2 << 20, BudgetMode::kHard);
  context->dispose(large);
  EXPECT_GT(cpu->committed(), 2u << 20);
  for (int i = 0; i < 5000; ++i) context->dispose(make());
  EXPECT_LE(cpu->committed(), 2u << 20);
  cpu->set_budget(0, BudgetMode::kHard);
}

TEST_F(Counts, ALoanEndsWithTheTensorThatWasLent) {
  const RegionId home = context->open(), guest = context->open();
  std::vector<Handle> lent;
  for (int i = 0; i < 2000; ++i) lent.push_back(make({4}, home));
  for (const Handle handle : lent) context->attach_temporarily(guest, handle);
  for (const Handle handle : lent) context->dispose(handle);
  for (int i = 0; i < 4000; ++i) make({4}, guest);  // in records that were lent ones'
  context->close(guest);
  EXPECT_EQ(books().live, 0u);
  context->close(home);
}

TEST_F(Counts, WhatCameBackFromALoanIsLentFromWhereItIsThen) {
  const RegionId above = context->open(), home = context->open(above), guest = context->open();
  const Handle handle = make({4}, home);
  context->attach_temporarily(guest, handle);
  context->close(guest);
  EXPECT_EQ(context->describe(handle).region, home);
  context->move_to_parent(handle);
  const RegionId second = context->open();
  context->attach_temporarily(second, handle);
  context->close(second);
  EXPECT_EQ(context->describe(handle).region, above);
  context->close(above);
}

}  // namespace
}  // namespace ebb::test
