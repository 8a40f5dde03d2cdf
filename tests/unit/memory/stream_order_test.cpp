// How often the device is asked, and the pool's own records.
#include "memory/pool/stream_order.hpp"

#include <gtest/gtest.h>

#include <array>

#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "memory/pool/metadata_arena.hpp"
#include "support/heaps.hpp"

namespace ebb::detail {
namespace {

constexpr std::size_t kGranule = 64 << 10;

class StreamOrderTest : public ::testing::Test {
 protected:
  std::uint64_t records() const { return heap_.count(RecordingHeap::Call::kRecord); }
  std::uint64_t asked() const { return heap_.count(RecordingHeap::Call::kDone); }

  SimulatedDevice device_{{.capacity = 1 << 20, .granule = kGranule}};
  RecordingHeap heap_{device_};
  StreamOrder order_{heap_};
  StreamId stream_ = device_.create_stream();
};

TEST_F(StreamOrderTest, RecordsNothingMoreWhereAllIsReached) {
  device_.submit(stream_, {}, 10);
  const Ticket ticket = order_.position(stream_);
  order_.poll();
  EXPECT_FALSE(order_.reached(stream_, ticket));
  device_.step(100);
  order_.poll();
  EXPECT_TRUE(order_.reached(stream_, ticket));
  order_.poll();
  EXPECT_EQ(records(), 1u);
}

TEST_F(StreamOrderTest, WhatWasWaitedForIsNotAskedForAgain) {
  device_.submit(stream_, {}, 10);
  const Ticket ticket = order_.position(stream_);
  order_.poll();
  order_.mark_reached(stream_, ticket);
  EXPECT_TRUE(order_.reached(stream_, ticket));
  device_.submit(stream_, {}, 10);
  static_cast<void>(order_.position(stream_));
  const std::uint64_t before = asked();
  order_.poll();
  EXPECT_EQ(asked(), before + 1) << "of the new event alone";
  EXPECT_EQ(records(), 2u);
}

TEST(MetadataArenaTest, FillsASegmentToItsEnd) {
  SystemHeap heap;
  MetadataArena arena(heap);
  constexpr std::size_t kSegment = 8 << 20, kHeader = 2 * sizeof(void*), kFirst = 16;
  ASSERT_EQ(4 * heap.traits().granule, kSegment);
  ASSERT_NE((arena.make<std::array<std::byte, kFirst>>()), nullptr);
  EXPECT_EQ(arena.bytes(), kSegment);
  ASSERT_NE((arena.make<std::array<std::byte, kSegment - kHeader - kFirst>>()), nullptr);
  EXPECT_EQ(arena.bytes(), kSegment);
  ASSERT_NE(arena.make<char>(), nullptr);
  EXPECT_EQ(arena.bytes(), 2 * kSegment);
}

}  // namespace
}  // namespace ebb::detail
