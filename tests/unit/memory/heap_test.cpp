#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "ebb/base/error.hpp"
#include "ebb/memory/pool.hpp"
#include "ebb/memory/system_heap.hpp"
#include "support/heaps.hpp"

namespace ebb {
namespace {

constexpr std::size_t kMB = std::size_t{1} << 20;

TEST(SystemHeap, CommittedMemoryCanBeUsedAndComesBackZeroed) {
  SystemHeap heap;
  std::byte* base = heap.reserve(8 * kMB);
  ASSERT_NE(base, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(base) % heap.traits().alignment, 0u);
  ASSERT_TRUE(heap.commit(base + 2 * kMB, 4 * kMB));
  std::memset(base + 2 * kMB, 7, 4 * kMB);
  heap.decommit(base + 2 * kMB, 4 * kMB);
  ASSERT_TRUE(heap.commit(base + 4 * kMB, 2 * kMB));
  EXPECT_EQ(base[4 * kMB], std::byte{0});
  heap.unreserve(base, 8 * kMB);
}

TEST(SystemHeap, AbsurdReservationsAreRefused) {
  SystemHeap heap;
  EXPECT_EQ(heap.reserve(SIZE_MAX / 2 + 1), nullptr);
  EXPECT_EQ(heap.reserve(SIZE_MAX - heap.traits().granule + 1), nullptr);
}

TEST(SystemHeap, StreamsAreNamesThatCanBeUsedAgain) {
  SystemHeap heap;
  std::set<StreamId> streams;
  for (StreamId i = 1; i < kMaxStreams; ++i) streams.insert(heap.create_stream());
  EXPECT_EQ(streams.size(), kMaxStreams - 1);
  EXPECT_EQ(streams.count(kDefaultStream), 0u);
  EXPECT_THROW(heap.create_stream(), Error);
  heap.destroy_stream(17);
  EXPECT_EQ(heap.create_stream(), 17u);
  EXPECT_TRUE(heap.done({17, heap.submitted(17)}));
}

TEST(SystemHeapDeath, MemoryThatIsNotCommittedCannotBeTouched) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SystemHeap heap;
  std::byte* base = heap.reserve(4 * kMB);
  EXPECT_DEATH(static_cast<volatile std::byte*>(base)[0] = std::byte{1}, "");
  heap.unreserve(base, 4 * kMB);
}

TEST(LimitHeap, RefusesBeyondTheLimitAndCounts) {
  SystemHeap system;
  LimitHeap heap(system, 6 * kMB);
  std::byte* base = heap.reserve(16 * kMB);
  EXPECT_TRUE(heap.commit(base, 4 * kMB));
  EXPECT_FALSE(heap.commit(base + 4 * kMB, 4 * kMB));
  EXPECT_EQ(heap.committed(), 4 * kMB);
  heap.set_limit(8 * kMB);
  EXPECT_TRUE(heap.commit(base + 4 * kMB, 4 * kMB));
  heap.set_limit(2 * kMB);
  EXPECT_FALSE(heap.commit(base + 8 * kMB, 2 * kMB));
  heap.decommit(base, 8 * kMB);
  EXPECT_EQ(heap.committed(), 0u);
  EXPECT_TRUE(heap.commit(base, 2 * kMB));
  heap.unreserve(base, 16 * kMB);
}

TEST(LimitHeap, CountsNothingThatWasRefusedBelow) {
  SystemHeap system;
  FaultHeap faulty(system);
  LimitHeap heap(faulty, 4 * kMB);
  std::byte* base = heap.reserve(16 * kMB);
  faulty.fail_at(1);
  EXPECT_FALSE(heap.commit(base, 4 * kMB));
  EXPECT_EQ(heap.committed(), 0u);
  EXPECT_TRUE(heap.commit(base, 4 * kMB));
  EXPECT_EQ(heap.committed(), 4 * kMB);
  heap.unreserve(base, 16 * kMB);
}

// Counts what is committed, and commits nothing.
class CountingHeap final : public HeapAdaptor {
 public:
  using HeapAdaptor::HeapAdaptor;
  bool commit(std::byte*, std::size_t bytes) noexcept override {
    const std::size_t now = committed.fetch_add(bytes) + bytes;
    std::size_t most = peak.load();
    while (now > most && !peak.compare_exchange_weak(most, now)) {
    }
    return true;
  }
  void decommit(std::byte*, std::size_t bytes) noexcept override { committed.fetch_sub(bytes); }

  std::atomic<std::size_t> committed{0}, peak{0};
};

TEST(LimitHeap, ThreadsDoNotPassTheLimitTogether) {
  SystemHeap system;
  CountingHeap counting(system);
  LimitHeap heap(counting, 3 * kMB);
  std::byte* base = heap.reserve(16 * kMB);
  std::vector<std::thread> threads;
  // Until they have met often: on a busy machine they seldom run at the same time.
  std::atomic<int> meetings{0};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (std::size_t t = 0; t < 2; ++t)
    threads.emplace_back([&, mine = base + t * 2 * kMB] {
      bool refused = false;
      while (meetings < 5000 && std::chrono::steady_clock::now() < until)
        for (int i = 0; i < 1000; ++i) {
          const bool committed = heap.commit(mine, 2 * kMB);
          if (committed) heap.decommit(mine, 2 * kMB);
          if (committed && refused) ++meetings;
          refused = !committed;
        }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counting.peak, 2 * kMB);  // of two at once, one was too many
  EXPECT_EQ(heap.committed(), 0u);
  heap.unreserve(base, 16 * kMB);
}

TEST(FaultHeap, FailsTheNthPointOrAllFromItOn) {
  SystemHeap system;
  FaultHeap heap(system);
  std::byte* base = heap.reserve(16 * kMB);
  heap.fail_at(2);
  EXPECT_TRUE(heap.commit(base, 2 * kMB));
  EXPECT_FALSE(heap.commit(base + 2 * kMB, 2 * kMB));
  EXPECT_TRUE(heap.record(0).has_value());
  EXPECT_EQ(heap.fault_points(), 3u);
  EXPECT_EQ(heap.faults(), 1u);
  heap.fail_at(1, true);
  EXPECT_EQ(heap.reserve(2 * kMB), nullptr);
  EXPECT_FALSE(heap.record(0).has_value());
  EXPECT_EQ(heap.faults(), 2u);
  heap.fail_at(0);
  EXPECT_TRUE(heap.record(0).has_value());
  heap.unreserve(base, 16 * kMB);
}

TEST(RecordingHeap, WritesDownWhatWasAsked) {
  SystemHeap system;
  RecordingHeap heap(system, true);
  std::byte* base = heap.reserve(4 * kMB);
  EXPECT_TRUE(heap.commit(base, 2 * kMB));
  heap.order(1, *heap.record(2));
  heap.wait({2, 0});
  EXPECT_TRUE(heap.done({2, 0}));
  heap.decommit(base, 2 * kMB);
  heap.unreserve(base, 4 * kMB);
  using Call = RecordingHeap::Call;
  std::vector<Call> calls;
  for (const auto& entry : heap.entries()) calls.push_back(entry.call);
  EXPECT_EQ(calls, (std::vector{Call::kReserve, Call::kCommit, Call::kRecord, Call::kOrder,
                                Call::kWait, Call::kDone, Call::kDecommit, Call::kUnreserve}));
  EXPECT_EQ(heap.memory_calls(), 4u);
  EXPECT_EQ(heap.committed(), 0u);
  EXPECT_EQ(heap.peak_committed(), 2 * kMB);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(SystemHeap, ThePoolCopesWithLimitedAddressSpace) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limited = before;
  std::size_t pages = 0;  // that tests before this one have taken
  std::ifstream("/proc/self/statm") >> pages;
  ASSERT_GT(pages, 0u);
  // Far less than the span the pool would like.
  limited.rlim_cur = pages * std::size_t(sysconf(_SC_PAGESIZE)) + (std::size_t{4} << 30);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  {
    SystemHeap heap;
    Pool pool(heap);
    const Block block = pool.allocate(64 * kMB);
    EXPECT_TRUE(block);
    EXPECT_LE(pool.stats().reserved, std::size_t{4} << 30);
    pool.free(block);
  }
  EXPECT_EQ(setrlimit(RLIMIT_AS, &before), 0);
}
#endif

}  // namespace
}  // namespace ebb
