// The pool from many threads at once; meant to run under TSan.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/pool.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "memory/event_ring.hpp"

namespace ebb {
namespace {

constexpr int kThreads = 8;

std::size_t random_size(std::mt19937& random) {
  return random() % 100 < 90 ? 1 + random() % 8192 : 1 + random() % (1 << 19);
}

template <typename Work>
void on_all_threads(Work work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
}

void expect_all_back(Pool& pool) {
  pool.wait_pending();
  pool.check();
  EXPECT_EQ(pool.stats().in_use, 0u);
  EXPECT_EQ(pool.stats().allocations, pool.stats().frees);
  pool.trim(SIZE_MAX);
  EXPECT_EQ(pool.stats().committed, 0u);
}

// A place where threads leave blocks for others to free.
class Exchange {
 public:
  Block swap(std::size_t at, Block block) {
    const std::lock_guard lock(mutex_);
    return std::exchange(slots_[at % slots_.size()], block);
  }
  std::vector<Block> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(slots_, std::vector<Block>(slots_.size()));
  }

 private:
  std::mutex mutex_;
  std::vector<Block> slots_ = std::vector<Block>(256);
};

// Writes on allocation and reads before the free, so that a block in two hands is a race TSan sees.
TEST(PoolThreads, BlocksAreFreedByOtherThreads) {
  SystemHeap heap({.huge_pages = false});
  Pool pool(heap);
  Exchange exchange;
  on_all_threads([&](int t) {
    std::mt19937 random{unsigned(t)};
    for (int i = 0; i < 8000; ++i) {
      const Block block = pool.allocate(random_size(random));
      ASSERT_TRUE(block);
      std::memset(block.data, t, 64);
      const Block other = exchange.swap(random(), block);
      if (!other) continue;
      ASSERT_EQ(other.data[0], other.data[63]);
      std::memset(other.data, 0xFF, 64);
      pool.free(other);
    }
  });
  for (const Block block : exchange.take_all()) pool.free(block);
  expect_all_back(pool);
}

// The fast paths against a thread that takes whatever the others have cached, all the time. A block
// in two hands is one that another thread writes.
TEST(PoolThreads, TakingWhatOthersCacheRacesWithThem) {
  SystemHeap heap({.granule = 64 << 10, .huge_pages = false});
  Pool pool(heap);
  std::atomic<bool> stop{false};
  std::vector<std::thread> takers;
  for (int t = 0; t < 2; ++t)
    takers.emplace_back([&] {
      while (!stop.load()) {
        pool.trim(SIZE_MAX);
        const Block block = pool.allocate(700);
        std::memset(block.data, 0xEE, 64);
        pool.free(block);
      }
    });
  on_all_threads([&](int t) {
    std::mt19937 random{unsigned(200 + t)};
    std::vector<Block> mine(70);
    for (int i = 0; i < 30000; ++i) {
      Block& block = mine[random() % mine.size()];
      if (block) {
        ASSERT_EQ(block.data[0], std::byte(t));
        ASSERT_EQ(block.data[63], std::byte(t));
        pool.free(block);
      }
      block = pool.allocate(600 + random() % 2 * 100);
      ASSERT_TRUE(block);
      std::memset(block.data, t, 64);
    }
    for (const Block block : mine) pool.free(block);
  });
  stop = true;
  for (std::thread& taker : takers) taker.join();
  expect_all_back(pool);
}

TEST(PoolThreads, TrimSettleAndStatsRaceWithAllTheRest) {
  SystemHeap heap({.granule = 64 << 10, .huge_pages = false});
  LimitHeap limited(heap, std::size_t{32} << 20);
  Pool pool(limited);
  std::atomic<bool> stop{false};
  std::thread trimmer([&] {
    for (std::size_t i = 0; !stop.load(); ++i) {
      pool.trim(i % 4 * (256 << 10));
      pool.settle();
      const PoolStats stats = pool.stats();
      EXPECT_LE(stats.committed, std::size_t{32} << 20);
      EXPECT_LE(stats.in_use, stats.committed);
      limited.set_limit(std::size_t{24 + i % 9} << 20);
      pool.check();
    }
  });
  on_all_threads([&](int t) {
    std::mt19937 random{unsigned(100 + t)};
    std::vector<Block> mine(16);
    for (int i = 0; i < 5000; ++i) {
      Block& block = mine[random() % mine.size()];
      pool.free(block);
      block = pool.allocate(random_size(random));
    }
    for (const Block block : mine) pool.free(block);
  });
  stop = true;
  trimmer.join();
  expect_all_back(pool);
}

TEST(PoolThreads, ThreadsComeAndGo) {
  SystemHeap heap({.huge_pages = false});
  Pool pool(heap);
  on_all_threads([&](int) {
    for (int generation = 0; generation < 20; ++generation)
      std::thread([&] {
        std::vector<Block> blocks;
        for (std::size_t i = 0; i < 100; ++i) blocks.push_back(pool.allocate(i * 1500));
        for (const Block block : blocks) pool.free(block);
      }).join();
  });
  const std::size_t metadata = pool.stats().metadata;
  EXPECT_LT(metadata, std::size_t{8} << 20);  // caches are used again, not made for each thread
  expect_all_back(pool);
}

TEST(PoolThreads, APoolMayEndBeforeItsThreads) {
  SystemHeap heap({.huge_pages = false});
  std::atomic<int> ready{0};
  std::atomic<bool> gone{false};
  auto pool = std::make_unique<Pool>(heap);
  Pool other(heap);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      pool->free(pool->allocate(1000));
      pool->free(pool->allocate(1 << 20));
      ++ready;
      while (!gone.load()) std::this_thread::yield();
      other.free(other.allocate(1000));  // its caches of the dead pool must not be in the way
    });
  while (ready.load() < kThreads) std::this_thread::yield();
  pool.reset();
  gone = true;
  for (std::thread& thread : threads) thread.join();
  expect_all_back(other);
}

TEST(PoolThreads, MorePoolsThanAThreadHasEntriesFor) {
  SystemHeap heap({.huge_pages = false});
  std::vector<std::unique_ptr<Pool>> pools;
  for (int i = 0; i < 24; ++i) pools.push_back(std::make_unique<Pool>(heap));
  on_all_threads([&](int t) {
    std::mt19937 random{unsigned(t)};
    for (int i = 0; i < 1000; ++i) {
      Pool& pool = *pools[random() % pools.size()];
      const Block block = pool.allocate(random_size(random));
      pools[random() % pools.size()]->free(Block{});
      pool.free(block);
    }
  });
  for (auto& pool : pools) expect_all_back(*pool);
}

TEST(PoolThreads, StreamsOfARunningDevice) {
  SimulatedDevice device({.capacity = std::size_t{64} << 20, .threaded = true});
  Pool pool(device);
  std::vector<StreamId> streams{kDefaultStream};
  for (int i = 0; i < 3; ++i) streams.push_back(device.create_stream());
  on_all_threads([&](int t) {
    std::mt19937 random{unsigned(t)};
    for (int i = 0; i < 300; ++i) {
      const StreamId stream = streams[random() % streams.size()];
      const Block block = pool.allocate(random_size(random), stream);
      if (!block) {
        pool.wait_pending();
        continue;
      }
      device.submit(stream, {{block.data, pool.block_bytes(block)}});
      pool.free(block);
    }
  });
  expect_all_back(pool);
  EXPECT_EQ(device.violations().size(), 0u);
}

TEST(PoolThreads, EventsCanBeReadWhileTheyAreWritten) {
  SystemHeap heap({.huge_pages = false});
  Pool pool(heap);
  trace::set(true);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load())
      for (const TraceEvent& event : trace::snapshot()) {
        ASSERT_TRUE(event.kind == EventKind::kAllocate || event.kind == EventKind::kFree);
        ASSERT_EQ(event.bytes, 1024u);
      }
  });
  trace::clear();
  on_all_threads([&](int) {
    for (int i = 0; i < 20000; ++i) pool.free(pool.allocate(1024));
  });
  stop = true;
  reader.join();
  trace::set(false);
  EXPECT_GT(trace::snapshot().size(), EventRing::kEvents / 2);
}

}  // namespace
}  // namespace ebb
