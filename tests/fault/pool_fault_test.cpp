// Every call that may fail does so once, and from then on, in turn (SQLite's way).
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "ebb/memory/pool.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "support/heaps.hpp"

namespace ebb {
namespace {

struct World {
  SimulatedDevice device{
      {.capacity = std::size_t{64} << 20, .granule = 64 << 10, .preferred_span = 4 << 20}};
  FaultHeap heap{device};
  SystemHeap system{{.granule = 4 << 10, .huge_pages = false}};  // many small segments
  FaultHeap metadata{system};
};

// Something of everything: small, large, streams, notes, trim.
void scenario(Pool& pool, SimulatedDevice& device, StreamId stream) {
  std::vector<std::pair<Block, UseNote*>> blocks;
  const auto use = [&](std::size_t bytes, StreamId home) {
    const Block block = pool.allocate(bytes, home);
    if (!block) return;
    device.submit(home, {{block.data, bytes}});
    blocks.emplace_back(block, nullptr);
  };
  for (std::size_t i = 0; i < 60; ++i) {
    use(1 + i * i * 40, 0);
    use(1 + i * 777, stream);
  }
  for (std::size_t i = 0; i < 6; ++i) use(std::size_t{1} << (17 + i % 6), i % 2 == 0 ? 0 : stream);
  for (std::size_t i = 0; i < blocks.size(); i += 2) {
    auto& [block, note] = blocks[i];
    static_cast<void>(pool.note_use(block, note, Pool::home_stream(block) == 0 ? stream : 0));
  }
  for (auto& [block, note] : blocks) pool.free(block, note);
  pool.settle();
  pool.free(pool.allocate(6 << 20, stream));
  pool.trim(1 << 20);
  pool.wait_pending();
}

// What must hold however much has failed.
void expect_sound(Pool& pool, World& world) {
  pool.flush_thread();
  pool.check();
  EXPECT_EQ(pool.stats().in_use, 0u);
  world.heap.fail_at(0);
  world.metadata.fail_at(0);
  const Block again = pool.allocate(300000);
  EXPECT_TRUE(again);
  pool.free(again);
  pool.wait_pending();
  pool.trim(SIZE_MAX);
  EXPECT_EQ(pool.stats().committed, 0u);
  EXPECT_EQ(world.device.violations().size(), 0u);
}

// Returns whether there was such a fault point.
bool run_with_fault(FaultHeap World::*where, std::uint64_t point, bool and_later) {
  World world;
  const StreamId stream = world.device.create_stream();
  (world.*where).fail_at(point, and_later);
  Pool pool(world.heap, {.metadata = &world.metadata});
  scenario(pool, world.device, stream);
  const bool reached = (world.*where).faults() > 0;
  expect_sound(pool, world);
  return reached;
}

std::uint64_t run_all(FaultHeap World::*where, bool and_later) {
  std::uint64_t point = 1;
  while (run_with_fault(where, point, and_later)) ++point;
  return point - 1;
}

TEST(PoolFaults, EveryHeapCallFailsOnce) {
  const std::uint64_t points = run_all(&World::heap, false);
  std::cout << points << " fault points of the heap, once each\n";
  EXPECT_GT(points, 20u);
}

TEST(PoolFaults, EveryHeapCallFailsFromThenOn) {
  const std::uint64_t points = run_all(&World::heap, true);
  std::cout << points << " fault points of the heap, and all later\n";
  EXPECT_GT(points, 5u);
}

TEST(PoolFaults, EveryRecordFailsOnceAndFromThenOn) {
  const std::uint64_t once = run_all(&World::metadata, false);
  const std::uint64_t later = run_all(&World::metadata, true);
  std::cout << once << " + " << later << " fault points of the pool's own records\n";
  EXPECT_GT(once, 10u);
}

TEST(PoolFaults, NothingFitsAndThenItDoes) {
  World world;
  Pool pool(world.heap, {.metadata = &world.metadata});
  world.heap.fail_at(1, true);
  for (const std::size_t bytes : {1, 1000, 100000, 10000000}) EXPECT_FALSE(pool.allocate(bytes));
  expect_sound(pool, world);
}

}  // namespace
}  // namespace ebb
