#include "ebb/memory/simulated_device.hpp"

#include <gtest/gtest.h>

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

using Access = SimulatedDevice::Access;
constexpr std::size_t kGranule = 64 << 10;

class SimulatedDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = device_.reserve(16 * kGranule);
    ASSERT_TRUE(device_.commit(base_, 8 * kGranule));
    other_ = device_.create_stream();
  }
  SimulatedDevice device_{{.capacity = 10 * kGranule, .max_duration = 3}};
  std::byte* base_ = nullptr;
  StreamId other_ = 0;
};

TEST_F(SimulatedDeviceTest, WorkRunsBehindTheCaller) {
  const Event event = device_.submit(0, {{base_, 100}}, 5);
  ASSERT_TRUE(device_.record(0).has_value());
  EXPECT_FALSE(device_.done(event));
  device_.step(4);
  EXPECT_FALSE(device_.done(event));
  device_.step(1);
  EXPECT_TRUE(device_.done(event));
}

TEST_F(SimulatedDeviceTest, APositionNeverRecordedIsNotKnownToBeDone) {
  const Event event = device_.submit(0, {{base_, 100}}, 1);
  device_.step(10);
  EXPECT_FALSE(device_.done(event));
  EXPECT_EQ(device_.record(0)->ticket, event.ticket);
  EXPECT_TRUE(device_.done(event));
}

TEST_F(SimulatedDeviceTest, RecordReachesTheDeviceOnlyWhenSomethingWasQueued) {
  device_.record(0);
  EXPECT_EQ(device_.records(), 0u);
  device_.submit(0, {{base_, 100}});
  device_.record(0);
  device_.record(0);
  EXPECT_EQ(device_.records(), 1u);
}

TEST_F(SimulatedDeviceTest, WaitMovesTime) {
  const Event first = device_.submit(0, {{base_, 100}}, 50);
  const Event second = device_.submit(other_, {{base_ + 200, 100}}, 50);
  device_.order(0, *device_.record(other_));
  const Event last = device_.submit(0, {{base_ + 200, 100}});
  device_.wait(last);
  EXPECT_TRUE(device_.done(first) && device_.done(second) && device_.done(last));
  EXPECT_EQ(device_.violations().size(), 0u);
}

TEST_F(SimulatedDeviceTest, DetectsUnorderedUseOfTheSameBytes) {
  device_.submit(0, {{base_, 100}}, 10);
  device_.submit(other_, {{base_ + 99, 10}});
  ASSERT_EQ(device_.violations().size(), 1u);
  EXPECT_EQ(device_.violations()[0].base, base_ + 99);
  EXPECT_EQ(device_.violations()[0].later.stream, other_);
}

TEST_F(SimulatedDeviceTest, AllowsNeighboursReadersAndWhatIsFinished) {
  device_.submit(0, {{base_, 100}}, 1);
  device_.submit(other_, {{base_ + 100, 100}}, 1);
  device_.finish();
  device_.submit(0, {{base_ + 100, 100, Access::kRead}}, 9);
  device_.submit(other_, {{base_ + 100, 100, Access::kRead}}, 9);
  EXPECT_EQ(device_.violations().size(), 0u);
}

TEST_F(SimulatedDeviceTest, OrderIsTransitive) {
  const StreamId third = device_.create_stream();
  device_.submit(0, {{base_, 100}}, 9);
  device_.order(other_, *device_.record(0));
  device_.submit(other_, {}, 9);
  device_.order(third, *device_.record(other_));
  device_.submit(third, {{base_, 100}});
  EXPECT_EQ(device_.violations().size(), 0u);
}

TEST_F(SimulatedDeviceTest, DetectsWorkOnMemoryThatIsNotCommitted) {
  device_.submit(0, {{base_ + 8 * kGranule - 1, 2}});
  EXPECT_EQ(device_.violations().size(), 1u);
}

TEST_F(SimulatedDeviceTest, DetectsDecommitUnderUnfinishedWork) {
  device_.submit(0, {{base_ + 100, 100}}, 9);
  device_.decommit(base_ + kGranule, kGranule);
  EXPECT_EQ(device_.violations().size(), 0u);
  device_.decommit(base_, kGranule);
  EXPECT_EQ(device_.violations().size(), 1u);
}

TEST_F(SimulatedDeviceTest, HasACapacityAndFailsOnRequest) {
  EXPECT_FALSE(device_.commit(base_ + 8 * kGranule, 3 * kGranule));
  device_.fail_commits(1);
  EXPECT_FALSE(device_.commit(base_ + 8 * kGranule, kGranule));
  EXPECT_TRUE(device_.commit(base_ + 8 * kGranule, 2 * kGranule));
  device_.submit(0, {{base_, 1}});
  device_.fail_records(1);
  EXPECT_FALSE(device_.record(0).has_value());
  EXPECT_TRUE(device_.record(0).has_value());
}

TEST_F(SimulatedDeviceTest, TicketsOfAnIdNeverGoBack) {
  device_.submit(other_, {{base_, 1}});
  const Ticket before = device_.submitted(other_);
  device_.destroy_stream(other_);
  EXPECT_EQ(device_.create_stream(), other_);
  EXPECT_GE(device_.submitted(other_), before);
}

TEST(SimulatedDevice, TheSameSeedGivesTheSameSchedule) {
  const auto schedule = [](std::uint64_t seed) {
    SimulatedDevice device({.seed = seed});
    const StreamId other = device.create_stream();
    for (int i = 0; i < 20; ++i) device.submit(i % 2 == 0 ? 0 : other, {});
    device.record(0);
    std::vector<bool> seen;
    for (int i = 0; i < 60; ++i) {
      device.step();
      seen.push_back(device.done({0, Ticket(1 + i / 6)}));
    }
    return seen;
  };
  EXPECT_EQ(schedule(3), schedule(3));
  EXPECT_NE(schedule(3), schedule(4));
}

TEST(SimulatedDevice, AThreadMayMoveTime) {
  SimulatedDevice device({.threaded = true});
  const Event event = device.submit(0, {}, 100);
  device.wait(event);
  EXPECT_TRUE(device.done(event));
}

}  // namespace
}  // namespace ebb
