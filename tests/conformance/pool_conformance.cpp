#include <algorithm>
#include <cstring>
#include <thread>

#include "conformance/pool_suite.hpp"

namespace ebb::test {
namespace {

constexpr std::size_t kSizes[] = {
    1,     63,    64,    65,     100,     256,     513,     1000,          4096,   5000,
    65535, 65536, 65537, 100000, 1 << 20, 3000001, 1 << 21, (1 << 21) + 1, 1 << 24};

TEST_P(PoolOnHeap, GivesAtLeastWhatIsAsked) {
  for (const std::size_t bytes : kSizes) {
    const Block block = pool_.allocate(bytes);
    ASSERT_TRUE(block) << bytes;
    EXPECT_GE(pool_.block_bytes(block), bytes);
    EXPECT_EQ(pool_.block_bytes(block), Pool::rounded(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % Pool::kAlignment, 0u);
    pool_.free(block);
  }
}

TEST_P(PoolOnHeap, WastesAnEighthAtMost) {
  for (std::size_t bytes = 512; bytes < (std::size_t{1} << 30); bytes += bytes / 7 + 1)
    EXPECT_LE(Pool::rounded(bytes), bytes + bytes / 8 + 64) << bytes;
}

TEST_P(PoolOnHeap, ZeroBytesIsABlockOfItsOwn) {
  const Block a = pool_.allocate(0);
  const Block b = pool_.allocate(0);
  ASSERT_TRUE(a && b);
  EXPECT_NE(a.data, b.data);
  pool_.free(a);
  pool_.free(b);
}

TEST_P(PoolOnHeap, AbsurdSizesHaveNoRoom) {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 1023, SIZE_MAX / 2,
                                  std::size_t{1} << 63, std::size_t{1} << 46})
    EXPECT_FALSE(pool_.allocate(bytes)) << bytes;
  const Block block = pool_.allocate(100);
  EXPECT_TRUE(block);
  pool_.free(block);
}

TEST_P(PoolOnHeap, NullIsFreedForNothing) {
  pool_.free(Block{});
  EXPECT_EQ(pool_.block_bytes(Block{}), 0u);
}

TEST_P(PoolOnHeap, LiveBlocksDoNotOverlap) {
  std::vector<Block> blocks;
  for (int round = 0; round < 50; ++round)
    for (const std::size_t bytes : {64, 700, 5000, 60000, 70000, 300000})
      blocks.push_back(pool_.allocate(bytes));
  std::sort(blocks.begin(), blocks.end(), [](Block a, Block b) { return a.data < b.data; });
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) {
    ASSERT_TRUE(blocks[i]);
    EXPECT_LE(blocks[i].data + pool_.block_bytes(blocks[i]), blocks[i + 1].data);
  }
  for (const Block block : blocks) pool_.free(block);
}

TEST_P(PoolOnAddressableHeap, ContentsAreTheUsersOnly) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < 400; ++i) {
    blocks.push_back(pool_.allocate(64 + i * 331));
    ASSERT_TRUE(blocks.back());
    std::memset(blocks.back().data, int(i & 255), pool_.block_bytes(blocks.back()));
    if (i % 3 == 0) {
      pool_.free(blocks[i / 2]);
      blocks[i / 2] = pool_.allocate(64 + i * 17);
      std::memset(blocks[i / 2].data, int(i / 2 & 255), pool_.block_bytes(blocks[i / 2]));
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t bytes = pool_.block_bytes(blocks[i]);
    const auto wrong = std::count_if(blocks[i].data, blocks[i].data + bytes,
                                     [&](std::byte b) { return b != std::byte(i & 255); });
    EXPECT_EQ(wrong, 0) << "block " << i;
    pool_.free(blocks[i]);
  }
}

TEST_P(PoolOnHeap, CountsWhatIsInUse) {
  std::size_t expected = 0;
  std::vector<Block> blocks;
  for (const std::size_t bytes : kSizes) {
    blocks.push_back(pool_.allocate(bytes));
    expected += Pool::rounded(bytes);
    EXPECT_EQ(pool_.stats().in_use, expected);
  }
  EXPECT_EQ(pool_.stats().allocations, blocks.size());
  EXPECT_EQ(pool_.stats().frees, 0u);
  for (const Block block : blocks) {
    expected -= pool_.block_bytes(block);
    pool_.free(block);
    EXPECT_EQ(pool_.stats().in_use, expected);
  }
  const PoolStats stats = pool_.stats();
  EXPECT_EQ(stats.frees, blocks.size());
  EXPECT_EQ(stats.cached, stats.committed);
  EXPECT_GE(stats.peak_committed, stats.committed);
  EXPECT_GE(stats.reserved, stats.committed);
}

TEST_P(PoolOnHeap, FreedNeighboursJoin) {
  std::vector<Block> blocks;
  for (int i = 0; i < 16; ++i) blocks.push_back(pool_.allocate(1 << 20));
  for (std::size_t i = 0; i < blocks.size(); i += 2) pool_.free(blocks[i]);
  for (std::size_t i = 1; i < blocks.size(); i += 2) pool_.free(blocks[i]);
  pool_.flush_thread();
  EXPECT_GE(pool_.stats().largest_free, std::size_t{16} << 20);
  EXPECT_EQ(pool_.stats().fragmentation(), 0.0);
  const std::size_t committed = pool_.stats().committed;
  const Block all = pool_.allocate(std::size_t{16} << 20);
  EXPECT_EQ(pool_.stats().committed, committed);
  pool_.free(all);
}

TEST_P(PoolOnHeap, EmptySlabsGoBack) {
  std::vector<Block> blocks;
  for (int i = 0; i < 20000; ++i) blocks.push_back(pool_.allocate(200));
  for (const Block block : blocks) pool_.free(block);
  pool_.flush_thread();
  pool_.trim(0);
  EXPECT_EQ(pool_.stats().free_chunks_bytes, pool_.stats().committed);
}

TEST_P(PoolOnHeap, TrimGivesNoMoreThanAsked) {
  const std::size_t granule = stack_.top->traits().granule;
  const std::size_t bytes = 16 * granule;
  pool_.free(pool_.allocate(std::max<std::size_t>(bytes, 1 << 20)));
  const std::size_t before = pool_.stats().committed;
  EXPECT_EQ(pool_.trim(1), granule);
  EXPECT_EQ(pool_.stats().committed, before - granule);
  EXPECT_EQ(pool_.trim(2 * granule), 2 * granule);
  EXPECT_EQ(pool_.trim(0), 0u);
  EXPECT_EQ(pool_.trim(SIZE_MAX), before - 3 * granule);
}

TEST_P(PoolOnHeap, AHoleIsFilledAgain) {
  const std::size_t granule = std::max<std::size_t>(stack_.top->traits().granule, 1 << 20);
  const Block low = pool_.allocate(4 * granule);
  const Block high = pool_.allocate(4 * granule);
  pool_.free(low);
  pool_.flush_thread();
  EXPECT_GT(pool_.trim(SIZE_MAX), 0u);
  const std::size_t reserved = pool_.stats().reserved;
  const Block again = pool_.allocate(4 * granule);
  ASSERT_TRUE(again);
  EXPECT_LE(pool_.stats().committed, 8 * granule + granule);
  EXPECT_EQ(pool_.stats().reserved, reserved);
  pool_.free(again);
  pool_.free(high);
}

TEST_P(PoolOnHeap, AnotherThreadMayFree) {
  std::vector<Block> blocks;
  for (const std::size_t bytes : kSizes) blocks.push_back(pool_.allocate(bytes));
  std::thread([&] {
    for (const Block block : blocks) pool_.free(block);
  }).join();
  EXPECT_EQ(pool_.stats().in_use, 0u);
}

TEST_P(PoolOnHeap, AThreadThatEndsLeavesNothing) {
  std::thread([&] {
    for (const std::size_t bytes : kSizes) pool_.free(pool_.allocate(bytes));
  }).join();
  EXPECT_EQ(pool_.stats().in_use, 0u);
  pool_.wait_pending();
  EXPECT_EQ(pool_.trim(SIZE_MAX) > 0, true);
  EXPECT_EQ(pool_.stats().committed, 0u);
}

TEST_P(PoolOnHeap, ABlockFreedLastIsTheNext) {
  for (const std::size_t bytes : {100, 5000, 200000, 5000000}) {
    const Block first = pool_.allocate(bytes);
    pool_.free(first);
    const Block second = pool_.allocate(bytes);
    EXPECT_EQ(first.data, second.data) << bytes;
    pool_.free(second);
  }
}

}  // namespace
}  // namespace ebb::test
