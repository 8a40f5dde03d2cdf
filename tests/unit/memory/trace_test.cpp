#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "ebb/memory/pool.hpp"
#include "ebb/memory/system_heap.hpp"
#include "memory/event_ring.hpp"

namespace ebb {
namespace {

TEST(EventRing, KeepsTheLastEventsInOrder) {
  auto ring = std::make_unique<EventRing>();
  const std::uint64_t total = EventRing::kEvents * 3 + 5;
  for (std::uint64_t i = 0; i < total; ++i)
    ring->push({.id = i, .bytes = i * 2, .site = 7, .kind = EventKind::kFree, .detail = 9});
  const auto events = ring->snapshot();
  ASSERT_GE(events.size(), EventRing::kEvents - 1);
  EXPECT_EQ(events.back().id, total - 1);
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    ASSERT_EQ(events[i].id + 1, events[i + 1].id);
    ASSERT_EQ(events[i].bytes, events[i].id * 2);
    ASSERT_LE(events[i].time, events[i + 1].time);
  }
  EXPECT_EQ(events[0].site, 7u);
  EXPECT_EQ(events[0].kind, EventKind::kFree);
  EXPECT_EQ(events[0].detail, 9u);
  EXPECT_GT(events[0].time, 0u);
  EXPECT_EQ(ring->snapshot(total - 3).size(), 3u);
  EXPECT_TRUE(ring->snapshot(total + 9).empty());
}

TEST(EventRing, FindsTheEventsOfOneNameThatAreStillThere) {
  auto ring = std::make_unique<EventRing>();
  const std::uint64_t total = EventRing::kEvents + 100;
  for (std::uint64_t i = 0; i < total; ++i) ring->push({.id = i % 1000, .bytes = i});
  const auto of = [&](std::uint64_t id, std::uint64_t since) {
    std::vector<TraceEvent> events;
    ring->read_of(id, since, events);
    return events;
  };
  for (const std::uint64_t id : {7u, 99u, 100u, 999u}) {
    std::vector<std::uint64_t> expected, found;
    for (const TraceEvent& event : ring->snapshot())
      if (event.id == id) expected.push_back(event.bytes);
    for (const TraceEvent& event : of(id, 0)) found.push_back(event.bytes);
    EXPECT_EQ(found, expected) << id;
  }
  EXPECT_TRUE(of(1000, 0).empty());
  EXPECT_EQ(of(7, total - 1000).size(), 1u);
  EXPECT_TRUE(of(7, total + 9).empty());
}

TEST(Trace, FindsTheEventsOfOneNameOfAllThreadsInTheirOrder) {
  trace::clear();
  trace::record({.id = 5, .bytes = 1, .kind = EventKind::kUser});
  std::thread([] { trace::record({.id = 5, .bytes = 2, .kind = EventKind::kUser}); }).join();
  trace::record({.id = 6, .bytes = 3, .kind = EventKind::kUser});
  const auto events = trace::snapshot_of(5);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_LE(events[0].time, events[1].time);
  EXPECT_EQ(events[0].bytes + events[1].bytes, 3u);
  trace::clear();
  EXPECT_TRUE(trace::snapshot_of(5).empty());
}

TEST(Trace, RecordsAllocationsOnlyWhileItIsOn) {
  SystemHeap heap;
  Pool pool(heap);
  trace::clear();
  pool.free(pool.allocate(100));
  EXPECT_TRUE(trace::snapshot().empty());
  trace::set(true);
  const Block small = pool.allocate(100);
  const Block large = pool.allocate(100000);
  pool.free(small);
  pool.free(large);
  EXPECT_FALSE(pool.allocate(~std::size_t{0} / 2));  // which is no event
  trace::set(false);
  pool.free(pool.allocate(100));
  const auto events = trace::snapshot();
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[0].kind, EventKind::kAllocate);
  EXPECT_EQ(events[0].id, reinterpret_cast<std::uint64_t>(small.data));
  EXPECT_EQ(events[0].bytes, 128u);
  EXPECT_EQ(events[1].bytes, Pool::rounded(100000));
  EXPECT_EQ(events[3].kind, EventKind::kFree);
  EXPECT_EQ(events[3].id, reinterpret_cast<std::uint64_t>(large.data));
}

TEST(Trace, EventsOutliveTheirThreadAndRingsAreUsedAgain) {
  trace::clear();
  for (std::uint64_t i = 0; i < 3; ++i)
    std::thread([i] { trace::record({.id = i, .kind = EventKind::kUser}); }).join();
  EXPECT_EQ(trace::snapshot().size(), 3u);
  trace::clear();
  EXPECT_TRUE(trace::snapshot().empty());
}

}  // namespace
}  // namespace ebb
