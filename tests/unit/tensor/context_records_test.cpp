// The records that the books are kept in: names run out as bytes do, and what records need counts
// and comes back.
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tensor/tensor_record.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

constexpr std::size_t kRuns = 16;  // of names, in the tests that use them all up
constexpr std::size_t kNames = kRuns * kChunkSlots;
auto& names() { return SlotSpace<TensorRecord>::stock(); }

// So few names for the length of a test.
class FewNames : public ContextTest {
 protected:
  FewNames() { names().set_most(names().taken() + kRuns); }
  ~FewNames() override { names().set_most(most_); }

  static ForeignSpec tiny(Device* device) {
    ForeignSpec spec;
    spec.device = device;
    spec.bytes = 8;
    return spec;
  }
  // Drops all of `garbage` when the host collects.
  void collects(std::vector<Handle>& garbage) {
    host.on_collect = [&](Collection) {
      for (const Handle handle : garbage) Context::orphan(handle);
      garbage.clear();
      return 1;
    };
  }

 private:
  const std::size_t most_ = names().most();
};

TEST_F(FewNames, TheErrorSaysHowManyAreAliveHowManyAreAllowedAndWhatToDo) {
  std::vector<Handle> all;
  for (std::size_t i = 0; i < kNames; ++i) all.push_back(make({}));
  EXPECT_ERROR(make({}), kOutOfMemory, "[make] no name is left for one more tensor",
               std::to_string(kNames) + " are alive", std::to_string(kNames) + " of them in this",
               std::to_string(kNames) + " are allowed", "Reclaim is off", "dispose them");
  EXPECT_ERROR(adopt(), kOutOfMemory, "[adopt] no name is left");
  EXPECT_ERROR(context->hold_by_name(all[0]), kOutOfMemory, "[hold] no name is left");
  EXPECT_ERROR(context->share(all[0]), kOutOfMemory, "[view] no name is left");
  EXPECT_EQ(cpu->in_use(), books().storages.bytes) << "what was begun was undone";
  context->dispose(all[7]);
  EXPECT_NO_THROW(make({}));
}

TEST_F(FewNames, OrphansGiveTheirsBack) {
  ReclaimOn on;
  for (std::size_t i = 0; i < 5 * kNames; ++i) Context::orphan(make({}));
  EXPECT_EQ(host.collections.size(), 0u);
  std::vector<Handle> all;
  for (std::size_t i = 0; i < kNames; ++i) all.push_back(make({}));
  for (std::size_t i = 0; i < kNames; i += 2) Context::orphan(all[i]);
  EXPECT_NO_THROW(make({}));
}

TEST_F(FewNames, TheHostCollectsForThem) {
  ReclaimOn on;
  std::vector<Handle> garbage;
  collects(garbage);
  for (std::size_t i = 0; i < 10 * kNames; ++i) {
    const Handle handle = make({});
    if (i % 2 != 0 || i >= kNames / 2) garbage.push_back(handle);
  }
  EXPECT_GE(host.collections.size(), 10u);
  EXPECT_LE(host.collections.size(), 60u);
}

TEST_F(FewNames, TheHostCollectsForThoseOfAnotherRuntimeAtSafePoints) {
  ReclaimOn on;
  std::vector<Handle> garbage;
  collects(garbage);
  for (std::size_t i = 0; i < 10 * kNames; ++i) {
    context->safe_point();
    garbage.push_back(context->adopt(tiny(wasm.get())));
  }
  EXPECT_GE(host.collections.size(), 10u);
  EXPECT_LE(host.collections.size(), 200u);
}

TEST_F(FewNames, WhereNoneIsBornTheHostDoesNotCollectForThem) {
  ReclaimOn on;
  host.on_collect = [](Collection) { return 1; };
  for (std::size_t i = 0; i + kChunkSlots / 2 < kNames; ++i) context->adopt(tiny(wasm.get()));
  context->safe_point();
  const std::size_t before = host.collections.size();
  EXPECT_GT(before, 0u);
  for (int i = 0; i < 100; ++i) context->safe_point();
  EXPECT_LE(host.collections.size(), before + 1);
}

// The budget may be passed, but there is no name: an error, and soon.
TEST_F(FewNames, ASoftBudgetDoesNotMakeMore) {
  OpenDevice soft(DeviceOptions{.name = "soft", .budget = 64 << 20, .mode = BudgetMode::kSoft});
  const auto make_one = [&] { return context->make({.device = soft.get(), .shape = {}}); };
  for (std::size_t i = 0; i < kNames; ++i) make_one();
  EXPECT_ERROR(make_one(), kOutOfMemory, "no name is left");
  context.reset();
}

TEST_F(FewNames, WhatOneContextHasEndedIsThereForAllOthers) {
  std::vector<Handle> all;
  for (std::size_t i = 0; i < kNames; ++i) all.push_back(make({}));
  const ContextPtr other = Context::create({.name = "other"});
  const TensorSpec spec{.device = cpu.get()};
  EXPECT_ERROR(other->make(spec), kOutOfMemory, "0 of them in this context");
  for (const Handle handle : all) context->dispose(handle);
  std::vector<Handle> theirs;
  EXPECT_NO_THROW(for (std::size_t i = 0; i < kNames - 2 * kChunkSlots; ++i)
                      theirs.push_back(other->make(spec)));
  EXPECT_ERROR(context->describe(all[0]), kStaleHandle, "has ended");
  for (const Handle handle : all) EXPECT_FALSE(context->dispose(handle));
}

TEST_F(FewNames, AnotherContextIsAskedForThem) {
  ReclaimOn on;
  RecordingHost other_host;
  const ContextPtr other = Context::create({.name = "other", .host = &other_host});
  std::vector<Handle> garbage;
  for (std::size_t i = 0; i < kNames; ++i) garbage.push_back(other->adopt(tiny(wasm.get())));
  other_host.on_collect = [&](Collection) {
    for (const Handle handle : garbage) Context::orphan(handle);
    return 1;
  };
  std::atomic<bool> runs{false}, stop{false};
  std::thread its_thread([&] {
    while (!stop) {
      other->safe_point();
      runs = true;
      std::this_thread::yield();
    }
  });
  while (!runs) std::this_thread::yield();  // it is asked for 100 ms: starting is not part of that
  EXPECT_NO_THROW(make({}));
  stop = true;
  its_thread.join();
}

TEST_F(FewNames, HoldsThatWereReleasedAreKnownToBe) {
  const Handle handle = make({});
  const Handle hold = context->hold_by_name(handle);
  EXPECT_TRUE(Context::release_by_name(hold));
  std::vector<Handle> all;
  for (std::size_t i = 0; i + 1 < kNames; ++i) all.push_back(make({}));
  for (const Handle each : all) context->dispose(each);
  context->dispose(handle);
  EXPECT_FALSE(Context::release_by_name(hold));
}

TEST_F(ContextTest, TooManyRegionsAreSaidToBeThat) {
  auto& regions = SlotSpace<Region>::stock();
  const std::size_t most = regions.most();
  regions.set_most(regions.taken());
  const auto fill = [&] {
    for (;;) context->open();
  };
  EXPECT_ERROR(fill(), kOutOfMemory, "[open] no name is left",
               std::to_string(kChunkSlots) + " are open in this context");
  EXPECT_ERROR(Context::create({.name = "one more"}), kOutOfMemory, "no name is left");
  regions.set_most(most);
  EXPECT_NO_THROW(context->open());
}

// ---- what records need

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class Records : public testing::Test {
 protected:
  static constexpr std::size_t kMegabyte = 1 << 20;
  OpenDevice ram{DeviceOptions{.name = "ram"}};
  RecordingHost host;
  ContextPtr context = Context::create({.name = "main", .host = &host});
  Handle scalar() { return context->make({.device = ram.get()}); }
};

TEST_F(Records, AreInTheBooks) {
  const std::uint64_t before = context->memory().record_bytes;
  std::vector<Handle> all;
  for (int i = 0; i < 50'000; ++i) all.push_back(scalar());
  const std::uint64_t after = context->memory().record_bytes;
  EXPECT_GE(after - before, 50'000 * (sizeof(TensorRecord) + sizeof(Storage)));
  EXPECT_LE(after - before, 50'000 * 1.3 * (sizeof(TensorRecord) + sizeof(Storage)));
  EXPECT_GE(Context::total_memory().record_bytes, after);
  for (const Handle handle : all) context->dispose(handle);
  EXPECT_LE(context->memory().record_bytes, before + kMegabyte);
}

TEST_F(Records, CountTowardsTheBudgetOfTheDeviceTheyAreFor) {
  constexpr std::uint64_t kBudget = 32 * kMegabyte;
  ram->set_budget(kBudget, BudgetMode::kHard);
  std::size_t made = 0;
  const auto fill = [&] {
    for (;; ++made) scalar();
  };
  EXPECT_ERROR(fill(), kOutOfMemory, "ram", "by records of tensors");
  EXPECT_LE(ram->committed() + ram->record_bytes(), kBudget);
  EXPECT_GE(ram->record_bytes(), kBudget / 2);
  EXPECT_LE(context->memory().record_bytes + ram->committed(), kBudget + 4 * kMegabyte);
  EXPECT_GE(made, kBudget / 400);
}

TEST_F(Records, AFewTakeNothingAway) {
  ram->set_budget(8 * kMegabyte, BudgetMode::kHard);
  for (int i = 0; i < 4; ++i) {
    EXPECT_NO_THROW(context->make({.device = ram.get(), .shape = {2 * kMegabyte / 4}}));
  }
}

TEST_F(Records, FindRoomInWhatIsOnlyCached) {
  ram->set_budget(32 * kMegabyte, BudgetMode::kHard);
  context->dispose(context->make({.device = ram.get(), .shape = {31 * kMegabyte / 4}}));
  EXPECT_EQ(ram->committed(), 32 * kMegabyte);
  EXPECT_NO_THROW(for (int i = 0; i < 50'000; ++i) scalar());
  EXPECT_LE(ram->committed() + ram->record_bytes(), 32 * kMegabyte);
}

// A granule is left, for the block or for the record: each would take it from the other for ever.
TEST_F(Records, AndBlocksDoNotTakeTheLastGranuleFromEachOther) {
  ram->set_budget(4 * kMegabyte, BudgetMode::kHard);
  const TensorSpec one{.device = ram.get()};
  const TensorSpec large{.device = ram.get(), .dtype = DType::kFloat32, .shape = {512 * 1024}};
  const Handle base = scalar();
  const auto fill = [&] {
    while (true) {
      context->view(base, 0, one);
      context->dispose(context->make(large));
    }
  };
  EXPECT_ERROR(fill(), kOutOfMemory, "ram");
  EXPECT_LE(ram->committed() + ram->record_bytes(), 4 * kMegabyte);
}

TEST_F(Records, TheHostCollectsForThem) {
  ReclaimOn on;
  ram->set_budget(32 * kMegabyte, BudgetMode::kHard);
  std::vector<Handle> garbage;
  host.on_collect = [&](Collection) {
    for (const Handle handle : garbage) Context::orphan(handle);
    garbage.clear();
    return 1;
  };
  for (int i = 0; i < 500'000; ++i) garbage.push_back(scalar());
  EXPECT_GE(host.collections.size(), 3u);
  EXPECT_LE(host.collections.size(), 30u);
}

TEST_F(Records, ASoftBudgetLetsThemPassWithOneWarning) {
  ram->set_budget(16 * kMegabyte, BudgetMode::kSoft);
  EXPECT_NO_THROW(for (int i = 0; i < 200'000; ++i) scalar());
  EXPECT_EQ(host.warnings.size(), 1u);
}

TEST_F(Records, GiveTheBudgetBackWhenTheyEnd) {
  ram->set_budget(32 * kMegabyte, BudgetMode::kHard);
  const RegionId region = context->open();
  for (int i = 0; i < 60'000; ++i) context->make({.device = ram.get(), .region = region});
  EXPECT_GE(ram->record_bytes(), 8 * kMegabyte);
  context->close(region);
  EXPECT_EQ(ram->record_bytes(), 0u);
  EXPECT_NO_THROW(context->make({.device = ram.get(), .shape = {28 * kMegabyte / 4}}));
}

TEST(RecordsOfADevice, ThatHasClosedAreNotTheNextOnes) {
  constexpr std::size_t kMegabyte = 1 << 20;
  OpenDevice other({.kind = DeviceKind::kForeign, .name = "other"});
  ContextPtr context = Context::create({.name = "main"});
  {
    OpenDevice first({.name = "first"});
    first->set_budget(256 * kMegabyte, BudgetMode::kHard);
    const RegionId region = context->open();
    for (int i = 0; i < 40'000; ++i) {  // both live in the same chunks
      context->make({.device = first.get(), .region = region});
      context->adopt({.device = other.get()});
    }
    EXPECT_GE(first->record_bytes(), 8 * kMegabyte);
    context->close(region);
  }
  OpenDevice next({.name = "next"});
  EXPECT_EQ(next->record_bytes(), 0u);
  context.reset();  // their chunks go now
  EXPECT_EQ(next->record_bytes(), 0u);
  next->set_budget(8 * kMegabyte, BudgetMode::kHard);
  context = Context::create({.name = "main"});
  EXPECT_NO_THROW(context->make({.device = next.get(), .shape = {8 * kMegabyte / 4}}));
  context.reset();
}

TEST_F(Records, GoBackToTheSystem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's own memory is resident too";
#endif
  const std::size_t before = resident_bytes();
  {
    const ContextPtr short_lived = Context::create({.name = "short"});
    for (int i = 0; i < 600'000; ++i) short_lived->make({.device = ram.get()});
    EXPECT_GE(resident_bytes(), before + 80 * kMegabyte);
  }
  ram->trim(SIZE_MAX);
  EXPECT_LE(resident_bytes(), before + 40 * kMegabyte);
  EXPECT_LE(Context::total_memory().record_bytes, 40 * kMegabyte);
}

}  // namespace
}  // namespace ebb::test
