// What is particular to the pool beyond the conformance suite: classes, budget, fragmentation,
// steady state.
#include "ebb/memory/pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "memory/pool/size_classes.hpp"
#include "support/heaps.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMB = std::size_t{1} << 20;
constexpr std::size_t kGranule = 64 << 10;

static_assert(std::is_trivially_copyable_v<Block> && sizeof(Block) == 16, "returned in registers");

// A thread has places for the caches of ten pools; what gives way to another is used again.
TEST(ManyPools, OnOneThreadMakeNoMoreRecordsInTheEnd) {
  SystemHeap heap;
  std::vector<std::unique_ptr<Pool>> pools;
  for (int i = 0; i < 16; ++i) pools.push_back(std::make_unique<Pool>(heap));
  const auto metadata_after = [&](int rounds) {
    std::size_t bytes = 0;
    for (int round = 0; round < rounds; ++round)
      for (const auto& pool : pools) pool->free(pool->allocate(100));
    for (const auto& pool : pools) bytes += pool->stats().metadata;
    return bytes;
  };
  const std::size_t early = metadata_after(20);
  EXPECT_EQ(metadata_after(500), early);
}

TEST(SizeClasses, EachSizeGetsTheSmallestClassThatHoldsIt) {
  for (std::size_t bytes = 1; bytes <= detail::kSmallLimit; ++bytes) {
    const std::uint32_t c = detail::class_of(bytes);
    ASSERT_GE(detail::kClassBytes[c], bytes);
    ASSERT_TRUE(c == 0 || detail::kClassBytes[c - 1] < bytes) << bytes;
  }
}

TEST(SizeClasses, ABlocksIndexFollowsFromItsOffset) {
  for (std::size_t c = 0; c < detail::kClasses; ++c) {
    const detail::SlabShape& shape = detail::kSlabShapes[c];
    ASSERT_LE(shape.blocks, detail::kSlabBlocks);
    ASSERT_GE(shape.bytes, shape.blocks * detail::kClassBytes[c]);
    ASSERT_LE(shape.bytes, shape.blocks * detail::kClassBytes[c] * 17 / 16 + 1024);
    for (std::uint64_t i = 0; i < shape.blocks; ++i)
      ASSERT_EQ(i * (detail::kClassBytes[c] / detail::kStep) * shape.reciprocal >> 32, i);
  }
}

class PoolUnderLimit : public ::testing::Test {
 protected:
  SimulatedDevice device_{{.capacity = 64 * kMB, .granule = kGranule, .synchronous = true}};
  LimitHeap heap_{device_, 8 * kMB};
  Pool pool_{heap_};
};

TEST_F(PoolUnderLimit, CommitsOnlyWhatIsLacking) {
  pool_.free(pool_.allocate(3 * kMB));
  EXPECT_EQ(pool_.stats().committed, 3 * kMB);
  const Block block = pool_.allocate(4 * kMB);  // beside the free 3 MB
  EXPECT_EQ(pool_.stats().committed, 4 * kMB);
  pool_.free(block);
}

TEST_F(PoolUnderLimit, SplinteredMemoryServesALargeRequest) {
  std::vector<Block> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(pool_.allocate(kMB));
  EXPECT_FALSE(pool_.allocate(kMB));
  for (std::size_t i = 0; i < blocks.size(); i += 2) pool_.free(blocks[i]);
  pool_.flush_thread();
  EXPECT_EQ(pool_.stats().largest_free, kMB);
  const Block large = pool_.allocate(3 * kMB);  // 4 MB are free, in pieces of one
  ASSERT_TRUE(large);
  EXPECT_EQ(heap_.committed(), 8 * kMB);  // no more was given back than was lacking
  EXPECT_EQ(pool_.stats().free_chunks_bytes, kMB);
  const Block rest = pool_.allocate(kMB);
  EXPECT_TRUE(rest);
  EXPECT_FALSE(pool_.allocate(kMB));
  pool_.free(large);
  pool_.free(rest);
  for (std::size_t i = 1; i < blocks.size(); i += 2) pool_.free(blocks[i]);
  pool_.check();
}

TEST_F(PoolUnderLimit, MagazinesDoNotKeepMemoryFromTheirOwnThread) {
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool_.allocate(60000));
  for (const Block block : blocks) pool_.free(block);
  const Block all = pool_.allocate(8 * kMB);
  EXPECT_TRUE(all);
  pool_.free(all);
}

// Threads that fill their magazines, and then do nothing until they are asked to end.
class IdleThreads {
 public:
  IdleThreads(Pool& pool, int threads) {
    std::latch filled(threads);
    for (int t = 0; t < threads; ++t)
      threads_.emplace_back([&] {
        fill(pool);
        filled.count_down();
        end_.wait(false);
        fill(pool);  // the cache is as good as before
      });
    filled.wait();
  }
  ~IdleThreads() {
    end_ = true;
    end_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  static void fill(Pool& pool) {
    std::vector<Block> blocks;
    for (const std::size_t bytes : {64, 500, 4000, 30000, 60000})
      for (int i = 0; i < 6; ++i) blocks.push_back(pool.allocate(bytes));
    for (const Block block : blocks) pool.free(block);
  }
  std::atomic<bool> end_{false};
  std::vector<std::thread> threads_;
};

TEST_F(PoolUnderLimit, IdleThreadsKeepNothingFromTheOthers) {
  IdleThreads idle(pool_, 4);
  EXPECT_EQ(pool_.stats().in_use, 0u);
  EXPECT_GT(pool_.stats().committed, kMB);
  const Block all = pool_.allocate(8 * kMB);
  EXPECT_TRUE(all);
  EXPECT_EQ(pool_.stats().in_use, 8 * kMB);
  pool_.free(all);
  pool_.check();
}

TEST_F(PoolUnderLimit, IdleThreadsKeepNothingFromASmallRequestEither) {
  IdleThreads idle(pool_, 4);
  std::vector<Block> blocks;
  while (const Block block = pool_.allocate(60000)) blocks.push_back(block);
  EXPECT_GE(blocks.size() * Pool::rounded(60000), 7 * kMB);
  for (const Block block : blocks) pool_.free(block);
}

TEST_F(PoolUnderLimit, TrimReachesWhatIdleThreadsKeep) {
  IdleThreads idle(pool_, 4);
  const std::size_t committed = pool_.stats().committed;
  EXPECT_EQ(pool_.trim(SIZE_MAX), committed);
  EXPECT_EQ(pool_.stats().committed, 0u);
  EXPECT_EQ(pool_.stats().in_use, 0u);
  pool_.check();
}

TEST_F(PoolUnderLimit, TrimLeavesWhatThreadsKeepWhereItHasEnough) {
  pool_.free(pool_.allocate(4 * kMB));
  IdleThreads idle(pool_, 2);
  const std::size_t kept = pool_.stats().cached - pool_.stats().free_chunks_bytes;
  EXPECT_EQ(pool_.trim(kGranule), kGranule);
  EXPECT_EQ(pool_.stats().cached - pool_.stats().free_chunks_bytes, kept);
}

TEST_F(PoolUnderLimit, ALargeBlockInAThreadsSlotIsTakenWhenNeeded) {
  pool_.free(pool_.allocate(6 * kMB));
  std::thread([&] {
    const Block block = pool_.allocate(7 * kMB);
    EXPECT_TRUE(block);
    pool_.free(block);
  }).join();
}

TEST(Pool, TrimTakesASingleGranuleAndJoinsWhatItTook) {
  SimulatedDevice device{{.capacity = 64 * kMB, .granule = kMB, .synchronous = true}};
  Pool pool(device);
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(kMB));
  ASSERT_EQ(pool.stats().committed, 4 * kMB);
  for (const std::size_t i : {1, 2}) {  // the second has what the first left below it
    pool.free(blocks[i]);
    EXPECT_EQ(pool.trim(kMB), kMB);
    pool.check();
  }
  const Block both = pool.allocate(2 * kMB);
  EXPECT_EQ(both.data, blocks[1].data);
  const Block next = pool.allocate(2 * kMB);
  EXPECT_TRUE(next);
  pool.check();
  for (const Block block : {blocks[0], blocks[3], both, next}) pool.free(block);
  EXPECT_EQ(pool.trim(8 * kMB), 6 * kMB);
  pool.check();
}

TEST_F(PoolUnderLimit, ALowerLimitIsKeptAfterTrim) {
  pool_.free(pool_.allocate(8 * kMB));
  heap_.set_limit(4 * kMB);
  EXPECT_EQ(pool_.trim(4 * kMB), 4 * kMB);
  EXPECT_FALSE(pool_.allocate(5 * kMB));
  const Block block = pool_.allocate(4 * kMB);
  EXPECT_TRUE(block);
  pool_.free(block);
}

TEST(Pool, SteadyWorkMakesNoHeapCalls) {
  SystemHeap system;
  RecordingHeap heap(system);
  Pool pool(heap);
  std::uint64_t calls = 0;
  for (int step = 0; step < 50; ++step) {
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < 200; ++i) blocks.push_back(pool.allocate(1 + i * i * 37));
    while (!blocks.empty()) {
      pool.free(blocks.back());
      blocks.pop_back();
    }
    if (step == 2) calls = heap.memory_calls();
  }
  EXPECT_EQ(heap.memory_calls(), calls);
}

TEST(Pool, CountsAllocationsAndFrees) {
  SimulatedDevice device{{.capacity = 64 * kMB, .granule = kGranule, .synchronous = true}};
  Pool pool(device);
  std::vector<Block> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(pool.allocate(100));
  for (int i = 0; i < 10; ++i) blocks.push_back(pool.allocate(kMB / 4));
  EXPECT_EQ(pool.stats().allocations, 110u);
  EXPECT_EQ(pool.stats().frees, 0u);
  EXPECT_EQ(pool.stats().metadata % kGranule, 0u);
  EXPECT_GT(pool.stats().metadata, 0u);
  for (std::size_t i = 0; i < 60; ++i) pool.free(blocks[i]);
  EXPECT_EQ(pool.stats().frees, 60u);
  for (std::size_t i = 60; i < blocks.size(); ++i) pool.free(blocks[i]);
  EXPECT_EQ(pool.stats().frees, 110u);
}

// What a program's own thread-local objects free and make when Ebb's have gone.
TEST(Pool, AThreadThatHasEndedStillAllocates) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer has left the thread by then, and cannot look at what it does";
#endif
  struct Late {
    Pool& pool;
    pthread_key_t key;
    int rounds = 0;
    std::vector<Block> blocks;
  };
  SystemHeap heap;
  Pool pool(heap);
  Late late{.pool = pool, .key = 0, .blocks = {}};
  ASSERT_EQ(pthread_key_create(&late.key,
                               [](void* given) {
                                 Late& at_end = *static_cast<Late*>(given);
                                 if (++at_end.rounds < 3) {
                                   pthread_setspecific(at_end.key, given);  // once more
                                   return;
                                 }
                                 for (int i = 0; i < 3; ++i) {
                                   at_end.blocks.push_back(at_end.pool.allocate(1000));
                                 }
                               }),
            0);
  std::thread([&] {
    pool.free(pool.allocate(64));
    pthread_setspecific(late.key, &late);
  }).join();
  ASSERT_EQ(late.blocks.size(), 3u);
  for (const Block block : late.blocks) EXPECT_TRUE(block);
  EXPECT_NE(late.blocks[0].data, late.blocks[1].data);
  EXPECT_NE(late.blocks[1].data, late.blocks[2].data);
  for (const Block block : late.blocks) pool.free(block);
  EXPECT_EQ(pool.stats().in_use, 0u);
  EXPECT_EQ(pool.stats().allocations, 4u);
  pthread_key_delete(late.key);
}

TEST(Pool, MetadataStaysSmall) {
  SystemHeap heap;
  Pool pool(heap);
  std::vector<Block> blocks;
  for (int i = 0; i < 100000; ++i) blocks.push_back(pool.allocate(1024));
  EXPECT_LT(pool.stats().metadata, pool.stats().in_use / 50);
  for (const Block block : blocks) pool.free(block);
}

TEST(PoolDeath, FreeingTwiceIsFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SystemHeap heap;
  Pool pool(heap);
  const Block small = pool.allocate(100);
  const Block large = pool.allocate(kMB);
  pool.free(large);
  EXPECT_DEATH(pool.free(large), "check failed");
  EXPECT_DEATH(
      {
        pool.free(small);
        pool.free(small);
        pool.flush_thread();
      },
      "check failed");
  pool.free(small);
}

}  // namespace
}  // namespace ebb
