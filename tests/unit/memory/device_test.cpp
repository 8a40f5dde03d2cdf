#include "ebb/memory/device.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "ebb/memory/memory_limit.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "support/expect_error.hpp"

namespace ebb {
namespace {

DeviceOptions foreign(std::string name, std::uint64_t budget = 0) {
  return {.kind = DeviceKind::kForeign, .name = std::move(name), .budget = budget};
}
DeviceOptions custom(std::string name) {
  DeviceOptions options{.kind = DeviceKind::kCustom, .name = std::move(name)};
  options.heap = std::make_unique<SimulatedDevice>(SimulatedDeviceOptions{.capacity = 4 << 20});
  return options;
}

TEST(Device, OpensAndIsFound) {
  Device& device = Device::open({.name = "host memory", .budget = 4 << 20});
  EXPECT_EQ(Device::find(device.id()), &device);
  EXPECT_EQ(Device::find("host memory"), &device);
  EXPECT_EQ(device.budget(), 4u << 20);
  EXPECT_FALSE(device.foreign());
  EXPECT_NE(device.heap(), nullptr);
  const DeviceId id = device.id();
  Device::close(device);
  EXPECT_EQ(Device::find(id), nullptr);
  EXPECT_EQ(Device::find("host memory"), nullptr);
}

TEST(Device, TheSameNameAndKindIsTheSameDevice) {
  Device& first = Device::open(foreign("shared"));
  Device& second = Device::open(foreign("shared"));
  EXPECT_EQ(&first, &second);
  Device::close(first);
  EXPECT_EQ(Device::find("shared"), &second);
  Device::close(second);
  EXPECT_EQ(Device::find("shared"), nullptr);
  EXPECT_ERROR(Device::close(second), kWrongState, "[device] shared is closed already");
}

TEST(Device, SaysWhatIsWrongWithItsOptions) {
  EXPECT_ERROR(Device::open({}), kInvalidArgument, "name");
  EXPECT_ERROR(Device::open({.kind = DeviceKind::kSimulated, .name = "sim"}), kInvalidArgument,
               "sim", "capacity");
  EXPECT_ERROR(Device::open({.kind = DeviceKind::kCustom, .name = "mine"}), kInvalidArgument,
               "mine", "heap");
  Device& device = Device::open(foreign("taken"));
  EXPECT_ERROR(Device::open({.name = "taken"}), kInvalidArgument, "\"taken\"", "another kind");
  Device::close(device);
}

TEST(Device, ACustomNameIsOpenedOnce) {
  Device& device = Device::open(custom("own heap"));
  EXPECT_ERROR(Device::open(custom("own heap")), kInvalidArgument, "own heap");
  Device::close(device);
}

TEST(Device, IsNotClosedWhileInUse) {
  Device& device = Device::open(custom("busy"));
  Device::open(custom("other"));
  const Block block = device.pool().allocate(1000);
  ASSERT_TRUE(block);
  EXPECT_GE(device.in_use(), 1000u);
  EXPECT_ERROR(Device::close(device), kWrongState, "busy", "in use");
  device.pool().free(block);
  EXPECT_EQ(device.in_use(), 0u);
  Device::close(device);
  Device::close(*Device::find("other"));
}

TEST(Device, AClosedOneIsTakenAgainByTheNextOfItsKind) {
  Device& first = Device::open(foreign("before", 7));
  const DeviceId id = first.id();
  Device::close(first);
  Device& next = Device::open(foreign("after"));
  EXPECT_EQ(&next, &first);
  EXPECT_EQ(next.index(), id % kMaxDevices);
  EXPECT_NE(next.id(), id);  // a name never comes twice
  EXPECT_EQ(Device::find(id), nullptr);
  EXPECT_ERROR(Device::close(id), kStaleHandle, "closed");
  EXPECT_EQ(next.name(), "after");
  EXPECT_EQ(next.budget(), 0u);
  EXPECT_EQ(next.peak_committed(), 0u);
  Device::close(next);
}

TEST(Device, TheNextOfItsKindInheritsNoPeak) {
  const auto open = [](const char* name) -> Device& {
    return Device::open({.kind = DeviceKind::kSimulated, .name = name, .capacity = 8 << 20});
  };
  Device& first = open("with a peak");
  first.pool().free(first.pool().allocate(4 << 20));
  EXPECT_GE(first.peak_committed(), 4u << 20);
  Device::close(first);
  Device& next = open("without");
  EXPECT_EQ(&next, &first);
  EXPECT_EQ(next.peak_committed(), 0u);
  Device::close(next);
}

TEST(Device, ANameThatWasReadStaysWhole) {
  Device& first = Device::open(foreign("a name that is too long to be kept in place"));
  const std::string& name = first.name();
  Device::close(first);
  Device& next = Device::open(foreign("another name, as long as that one was before"));
  EXPECT_EQ(&next, &first);
  EXPECT_EQ(name, "a name that is too long to be kept in place");
  Device::close(next);
}

TEST(Device, IdsNeverComeTwice) {
  std::set<DeviceId> ids;
  for (int i = 0; i < 1000; ++i) {
    Device& device = Device::open(foreign("again"));
    EXPECT_TRUE(ids.insert(device.id()).second);
    EXPECT_EQ(Device::find(device.id()), &device);
    Device::close(device);
  }
  for (const DeviceId id : ids) EXPECT_EQ(Device::find(id), nullptr);
}

TEST(Device, ForgedIdsNameNothing) {
  Device& device = Device::open(foreign("genuine"));
  for (DeviceId high = 0; high < 2000; ++high) {
    const DeviceId forged = high * 2147483 + 12345;
    EXPECT_EQ(Device::find(forged) == &device, forged == device.id());
  }
  EXPECT_EQ(Device::find(0), nullptr);
  EXPECT_EQ(Device::find(device.id() + kMaxDevices), nullptr);
  EXPECT_EQ(Device::find(device.id() ^ 0x80000000u), nullptr);
  EXPECT_ERROR(Device::visit(device.id() + kMaxDevices, [](Device&) { FAIL(); }), kStaleHandle,
               "never was");
  Device::close(device);
}

TEST(Device, ABudgetThatCommitsNothingIsRefused) {
  EXPECT_ERROR(Device::open({.name = "tiny", .budget = 1 << 20}), kInvalidArgument, "tiny",
               "1.00 MB", "2.00 MB at a time");
  EXPECT_EQ(Device::find("tiny"), nullptr);
  DeviceOptions options = custom("small");
  const std::size_t granule = options.heap->traits().granule;
  options.budget = granule;
  Device& device = Device::open(std::move(options));
  EXPECT_ERROR(device.set_budget(granule - 1, BudgetMode::kSoft), kInvalidArgument, "small");
  EXPECT_EQ(device.budget(), granule);
  EXPECT_EQ(device.mode(), BudgetMode::kHard);
  const Block block = device.pool().allocate(1000);  // it is enough
  EXPECT_TRUE(block);
  device.pool().free(block);
  Device::close(device);
  Device& other = Device::open(foreign("another runtime's", 1));  // commits nothing anyway
  Device::close(other);
}

// Asking for what is in use costs a microsecond and the pool's lock.
TEST(Device, ALoweredBudgetIsNotAskedForAtEveryAllocation) {
  Device& device = Device::open(custom("rationed"));
  const Block kept = device.pool().allocate(1 << 20);
  device.set_budget(64 << 10, BudgetMode::kHard);
  const Block dropped = device.pool().allocate(64);  // there is room in what is committed
  EXPECT_TRUE(device.over_committed());
  for (int vain = 0; vain < 2000; ++vain) device.trim_to_budget_in_turn();
  device.pool().free(kept);
  int turns = 0;
  for (; device.over_committed() && turns < 1000; ++turns) device.trim_to_budget_in_turn();
  EXPECT_GT(turns, 1);
  EXPECT_LE(turns, 257);
  device.pool().free(dropped);
  Device::close(device);
}

TEST(Device, ClosingGivesTheMemoryBack) {
  Device& device =
      Device::open({.kind = DeviceKind::kSimulated, .name = "sim", .capacity = 8 << 20});
  auto& heap = static_cast<SimulatedDevice&>(*device.heap());
  device.pool().free(device.pool().allocate(1 << 20));
  device.pool().flush_thread();
  EXPECT_GT(device.committed(), 0u);
  EXPECT_GT(device.peak_committed(), 0u);
  Device::close(device);
  EXPECT_EQ(heap.committed(), 0u);
}

// Frees memory that queued work still uses.
void free_while_queued(Device& device) {
  auto& heap = static_cast<SimulatedDevice&>(*device.heap());
  const Block block = device.pool().allocate(1 << 20);
  const Event work = heap.submit(kDefaultStream, {{block.data, 1 << 20}}, 100);
  device.pool().free(block);
  EXPECT_FALSE(heap.done(work));
  EXPECT_EQ(heap.committed(), 1u << 20);
}

TEST(Device, TrimWaitsForWorkThatIsQueued) {
  Device& device =
      Device::open({.kind = DeviceKind::kSimulated, .name = "busy", .capacity = 8 << 20});
  auto& heap = static_cast<SimulatedDevice&>(*device.heap());
  free_while_queued(device);
  EXPECT_EQ(device.trim(8 << 20), 1u << 20);
  EXPECT_EQ(heap.committed(), 0u);
  EXPECT_TRUE(heap.violations().empty());
  Device::close(device);

  Device& other = Device::open(foreign("of another runtime"));
  EXPECT_EQ(other.trim(8 << 20), 0u);
  Device::close(other);
}

// What is committed past the next opening's budget would serve it without ever being refused.
TEST(Device, ClosingWaitsForWorkThatIsQueued) {
  Device& device =
      Device::open({.kind = DeviceKind::kSimulated, .name = "busy", .capacity = 8 << 20});
  auto& heap = static_cast<SimulatedDevice&>(*device.heap());
  free_while_queued(device);
  Device::close(device);
  EXPECT_EQ(heap.committed(), 0u);
  EXPECT_TRUE(heap.violations().empty());
}

TEST(Device, ThereIsALimitToTheirNumber) {
  std::vector<Device*> opened;
  Device* refused = nullptr;
  const auto open_one_more = [&] {
    refused = &Device::open(custom("many " + std::to_string(opened.size())));
  };
  while (opened.size() < kMaxDevices) {
    try {
      open_one_more();
      opened.push_back(refused);
    } catch (const Error&) {
      break;
    }
  }
  EXPECT_LT(opened.size(), kMaxDevices);
  EXPECT_GE(opened.size(), 20u);
  EXPECT_ERROR(open_one_more(), kWrongState, "31 devices", "no more");
  for (Device* device : opened) Device::close(*device);
  open_one_more();  // and a place is free again
  Device::close(*refused);
}

TEST(Device, CountsForeignBytes) {
  Device& device = Device::open(foreign("wasm", 100));
  device.foreign_born(60);
  EXPECT_FALSE(device.over_budget(40));
  EXPECT_TRUE(device.over_budget(41));
  device.foreign_born(50);
  EXPECT_EQ(device.in_use(), 110u);
  EXPECT_TRUE(device.over_budget(0));
  EXPECT_ERROR(Device::close(device), kWrongState, "110 bytes");
  device.foreign_ended(60);
  device.foreign_ended(50);
  EXPECT_EQ(device.in_use(), 0u);
  EXPECT_EQ(device.committed(), 0u);
  EXPECT_EQ(device.peak_committed(), 110u);
  device.set_budget(0, BudgetMode::kSoft);
  EXPECT_FALSE(device.over_budget(1u << 30));
  EXPECT_EQ(device.mode(), BudgetMode::kSoft);
  Device::close(device);
}

TEST(Device, TheBudgetLimitsWhatIsCommitted) {
  Device& device = Device::open(custom("limited"));
  device.set_budget(1 << 20, BudgetMode::kHard);
  EXPECT_FALSE(device.pool().allocate(2 << 20));
  const Block fits = device.pool().allocate(512 << 10);
  EXPECT_TRUE(fits);
  device.pool().free(fits);
  device.set_budget(0, BudgetMode::kHard);
  const Block now = device.pool().allocate(2 << 20);
  EXPECT_TRUE(now);
  device.pool().free(now);
  Device::close(device);
}

TEST(Device, ALoweredBudgetTakesBackWhatIsCached) {
  Device& device = Device::open(custom("lowered"));
  const Block kept = device.pool().allocate(1 << 20);
  const Block dropped = device.pool().allocate(2 << 20);
  device.pool().free(dropped);
  EXPECT_GE(device.committed(), 3u << 20);
  device.set_budget(2 << 20, BudgetMode::kHard);
  EXPECT_LE(device.committed(), 2u << 20);
  device.set_budget(512 << 10, BudgetMode::kHard);  // less than is in use
  EXPECT_TRUE(device.over_committed());
  device.pool().free(kept);
  device.trim_to_budget_in_turn();
  EXPECT_FALSE(device.over_committed());
  Device::close(device);
}

TEST(Device, WhatRecordsTakeIsNotThereForBlocks) {
  constexpr std::size_t kRecords = 2 << 20;
  Device& device = Device::open({.name = "records", .budget = 8 << 20});
  const auto payer = device.charge_records(kRecords);
  ASSERT_EQ(payer, device.id());
  EXPECT_FALSE(device.pool().allocate(7 << 20));
  Device::refund_records(*payer, kRecords);
  const Block block = device.pool().allocate(7 << 20);
  EXPECT_TRUE(block);
  EXPECT_FALSE(device.charge_records(kRecords)) << "the blocks have it all";
  device.pool().free(block);
  Device::close(device);
}

TEST(MemoryLimit, IsSomethingAProgramCanUse) {
  EXPECT_GT(memory_limit(), 64u << 20);
  EXPECT_LT(memory_limit(), std::uint64_t{1} << 50);
  EXPECT_EQ(memory_limit(), memory_limit());
}

}  // namespace
}  // namespace ebb
