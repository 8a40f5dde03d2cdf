// Reuse in stream order, step by step; tests/model does the same at random.
#include <gtest/gtest.h>

#include <vector>

#include "ebb/memory/pool.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "support/heaps.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMB = std::size_t{1} << 20;

class PoolStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    a_ = device_.create_stream();
    b_ = device_.create_stream();
  }
  void TearDown() override {
    EXPECT_EQ(device_.violations().size(), 0u);
    pool_.check();
  }
  Block used(std::size_t bytes, StreamId stream, std::uint32_t ticks = 10) {
    const Block block = pool_.allocate(bytes, stream);
    EXPECT_TRUE(block);
    device_.submit(stream, {{block.data, bytes}}, ticks);
    return block;
  }

  SimulatedDevice device_{{.capacity = 4 * kMB, .granule = 64 << 10}};
  RecordingHeap heap_{device_};
  Pool pool_{heap_};
  StreamId a_ = 0;
  StreamId b_ = 0;
};

TEST_F(PoolStreams, TheSameStreamHasItAtOnce) {
  for (const std::size_t bytes : {std::size_t{1000}, 2 * kMB}) {
    const Block first = used(bytes, a_);
    pool_.free(first);
    const Block second = used(bytes, a_);
    EXPECT_EQ(first.data, second.data);
    pool_.free(second);
  }
}

TEST_F(PoolStreams, AnotherStreamOnlyAfterTheWork) {
  const Block first = used(3 * kMB, a_, 100);
  pool_.free(first);
  EXPECT_FALSE(pool_.allocate(3 * kMB, b_));
  EXPECT_GE(pool_.settle(), 3 * kMB);
  device_.step(100);
  const Block second = used(3 * kMB, b_);
  EXPECT_EQ(first.data, second.data);
  pool_.free(second);
}

TEST_F(PoolStreams, WaitingMakesRoom) {
  pool_.free(used(3 * kMB, a_, 1000));
  EXPECT_FALSE(pool_.allocate(3 * kMB, b_));
  pool_.wait_pending();
  EXPECT_EQ(pool_.stats().pending, 0u);
  const Block block = used(3 * kMB, b_);
  pool_.free(block);
}

TEST_F(PoolStreams, SmallBlocksStayOnTheirStream) {
  const Block first = used(1000, a_, 50);
  pool_.free(first);
  pool_.flush_thread();
  const Block second = used(1000, b_, 1);
  EXPECT_NE(first.data, second.data);
  EXPECT_EQ(Pool::home_stream(first), a_);
  EXPECT_EQ(Pool::home_stream(second), b_);
  pool_.free(second);
}

TEST_F(PoolStreams, OneStreamNeedsNoEvents) {
  for (int round = 0; round < 200; ++round) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < 10; ++i)
      if (const Block block = pool_.allocate(1 + i * 50000, a_)) blocks.push_back(block);
    for (const Block block : blocks) device_.submit(a_, {{block.data, 1}});
    for (const Block block : blocks) pool_.free(block);
  }
  EXPECT_EQ(heap_.count(RecordingHeap::Call::kRecord), 0u);
  EXPECT_EQ(heap_.count(RecordingHeap::Call::kDone), 0u);
}

TEST_F(PoolStreams, OneStreamJoinsWhatItFreedWithWhatNobodyUsed) {
  const Block first = used(kMB, a_, 1000);
  const Block second = used(kMB, a_, 1000);
  const Block third = used(kMB, a_, 1000);
  pool_.free(second);
  pool_.free(first);
  pool_.free(third);
  const Block all = used(4 * kMB, a_, 1);
  EXPECT_EQ(all.data, first.data);
  pool_.free(all);
}

TEST_F(PoolStreams, OneEventCoversAllThatAStreamFreed) {
  pool_.free(used(100, b_, 1));
  std::vector<Block> blocks;
  for (int i = 0; i < 20; ++i) blocks.push_back(used(100000, a_, 5));
  for (const Block block : blocks) pool_.free(block);
  pool_.flush_thread();
  for (int i = 0; i < 10; ++i) pool_.settle();
  EXPECT_LE(heap_.count(RecordingHeap::Call::kRecord), 2u);
}

TEST_F(PoolStreams, ABlockWaitsForEveryStreamThatUsedIt) {
  const Block block = used(3 * kMB, a_, 1);
  UseNote* note = nullptr;
  EXPECT_TRUE(pool_.note_use(block, note, a_));
  EXPECT_EQ(note, nullptr);  // home needs no note
  ASSERT_TRUE(pool_.note_use(block, note, b_));
  ASSERT_NE(note, nullptr);
  device_.order(b_, *device_.record(a_));
  device_.submit(b_, {{block.data, kMB}}, 500);
  pool_.free(block, note);
  EXPECT_EQ(pool_.stats().in_use, 0u);
  device_.step(100);  // a is done, b is not
  EXPECT_FALSE(pool_.allocate(3 * kMB, a_));
  device_.step(1000);
  const Block again = used(3 * kMB, a_, 1);
  pool_.free(again);
}

TEST_F(PoolStreams, ANotedBlockWhoseStreamsAreDoneIsFreeAtOnce) {
  const Block block = used(kMB, a_, 1);
  UseNote* note = nullptr;
  ASSERT_TRUE(pool_.note_use(block, note, b_));
  pool_.free(block, note);  // nothing was queued on b after all
  EXPECT_LE(pool_.stats().pending, kMB);
  pool_.wait_pending();
  EXPECT_EQ(pool_.stats().pending, 0u);
}

TEST_F(PoolStreams, ARefusedEventOnlyDelays) {
  pool_.free(used(100, b_, 1));
  pool_.free(used(3 * kMB, a_, 1));
  device_.step(10);
  device_.fail_records(1000);
  EXPECT_FALSE(pool_.allocate(3 * kMB, b_));
  pool_.wait_pending();  // waits without one
  EXPECT_TRUE(used(3 * kMB, b_));
}

TEST_F(PoolStreams, APoolThatEndsWaitsForItsDevice) {
  {
    Pool pool(heap_);
    const Block block = pool.allocate(kMB, a_);
    device_.submit(a_, {{block.data, kMB}}, 100);
    pool.free(block);
  }
  EXPECT_EQ(device_.committed(), 0u);
}

TEST_F(PoolStreams, ANoteIsUsedAgainForOneBlockAtATime) {
  UseNote* notes[2] = {};
  const auto free_noted = [&](StreamId stream, std::uint32_t ticks) {
    Block blocks[2];
    for (Block& block : blocks) block = used(1000, a_, 1);
    for (int i = 0; i < 2; ++i) {
      notes[i] = nullptr;
      ASSERT_TRUE(pool_.note_use(blocks[i], notes[i], stream));
    }
    device_.submit(stream, {}, ticks);
    for (int i = 0; i < 2; ++i) pool_.free(blocks[i], notes[i]);
  };
  const StreamId c = device_.create_stream();
  free_noted(b_, 5);
  EXPECT_EQ(pool_.stats().frees, 2u) << "what waits for a stream is freed too";
  device_.step(100);
  pool_.settle();
  device_.submit(b_, {}, 100000);  // which the notes were for before
  free_noted(c, 5);
  EXPECT_NE(notes[0], notes[1]);
  device_.step(100);
  pool_.settle();
  pool_.settle();
  EXPECT_EQ(pool_.stats().pending, 0u);
  EXPECT_EQ(pool_.stats().frees, 4u);
}

// Of two that fit alike: the other is there for all streams.
TEST_F(PoolStreams, AStreamTakesWhatItFreedItself) {
  const Block everybodys = used(kMB, a_, 1), beside = used(kMB / 2, a_, 1);
  const Block own = used(kMB, a_, 1), after = used(kMB / 2, a_, 1);
  pool_.free(used(100, b_, 1));
  pool_.free(everybodys);
  pool_.flush_thread();
  device_.step(100);
  pool_.settle();
  device_.submit(a_, {{own.data, kMB}}, 1000);
  pool_.free(own);
  pool_.flush_thread();
  const Block first = used(kMB, a_, 1);
  EXPECT_EQ(first.data, own.data);
  const Block second = used(kMB, b_, 1);
  EXPECT_EQ(second.data, everybodys.data);
  for (const Block block : {beside, after, first, second}) pool_.free(block);
}

}  // namespace
}  // namespace ebb
