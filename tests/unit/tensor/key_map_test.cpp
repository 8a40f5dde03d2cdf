#include "tensor/key_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "memory/record_pool.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

class KeyMapTest : public testing::Test {
 protected:
  Storage& make(Device& device, std::uint64_t key) {
    Storage& storage = arena.acquire(nullptr);
    storage.device = &device;
    storage.key = key;
    return storage;
  }
  OpenDevice a{DeviceOptions{.kind = DeviceKind::kForeign, .name = "a"}};
  OpenDevice b{DeviceOptions{.kind = DeviceKind::kForeign, .name = "b"}};
  RecordArena<Storage> arena;
  KeyMap keys;
};

TEST_F(KeyMapTest, FindsByDeviceAndKey) {
  EXPECT_EQ(keys.find(a->index(), 1), nullptr);
  Storage &x = make(*a, 1), &y = make(*b, 1);
  keys.reserve_one();
  keys.insert(x);
  EXPECT_EQ(keys.find(b->index(), 1), nullptr);
  keys.reserve_one();
  keys.insert(y);
  EXPECT_EQ(keys.find(a->index(), 1), &x);
  EXPECT_EQ(keys.find(b->index(), 1), &y);
  keys.erase(x);
  EXPECT_EQ(keys.find(a->index(), 1), nullptr);
  EXPECT_EQ(keys.find(b->index(), 1), &y);
  EXPECT_EQ(keys.count(), 1u);
}

TEST_F(KeyMapTest, AgreesWithAMapThroughGrowthAndShrinking) {
  std::mt19937_64 random(7);
  std::map<std::pair<DeviceId, std::uint64_t>, Storage*> model;
  for (int step = 0; step < 60000; ++step) {
    // Grows for a while, then shrinks, and again; keys collide in clusters.
    const bool growing = (step / 10000) % 2 == 0;
    Device& device = random() % 2 == 0 ? *a : *b;
    const std::uint64_t key = (random() % 4000) << (random() % 2 == 0 ? 0 : 32);
    const auto at = std::pair{device.index(), key};
    const auto known = model.find(at);
    ASSERT_EQ(keys.find(device.index(), key), known == model.end() ? nullptr : known->second);
    if (known == model.end() && growing) {
      keys.reserve_one();
      keys.insert(*(model[at] = &make(device, key)));
    } else if (known != model.end() && !growing) {
      keys.erase(*known->second);
      arena.release(*known->second);
      model.erase(known);
    }
    ASSERT_EQ(keys.count(), model.size());
  }
  for (const auto& [at, storage] : model) ASSERT_EQ(keys.find(at.first, at.second), storage);
}

// As many buckets as keys, give or take: one comes or goes at a time, and goes for good.
TEST_F(KeyMapTest, GivesItsMemoryBackAsItShrinks) {
  constexpr std::uint64_t kMany = 200000;
  std::vector<Storage*> made;
  for (std::uint64_t key = 1; key <= kMany; ++key) {
    keys.reserve_one();
    keys.insert(*made.emplace_back(&make(*a, key)));
  }
  EXPECT_GE(keys.bytes(), kMany * sizeof(Storage*));
  EXPECT_LE(keys.bytes(), 2 * kMany * sizeof(Storage*));
  for (Storage* storage : made) keys.erase(*storage);
  EXPECT_EQ(keys.count(), 0u);
  EXPECT_EQ(keys.find(a->index(), 1), nullptr);
  EXPECT_LE(keys.bytes(), std::uint64_t{64} << 10);
}

TEST(RecordArena, HandsOutEachRecordOnce) {
  RecordArena<Storage> arena;
  std::vector<Storage*> taken;
  for (int i = 0; i < 1000; ++i) taken.push_back(&arena.acquire(nullptr));
  EXPECT_EQ(arena.count(), 1000u);
  std::ranges::sort(taken);
  EXPECT_EQ(std::ranges::unique(taken).begin(), taken.end());
  for (Storage* storage : taken) arena.release(*storage);
  EXPECT_EQ(arena.count(), 0u);
  Storage& again = arena.acquire(nullptr);
  EXPECT_TRUE(std::binary_search(taken.begin(), taken.end(), &again));
  arena.release(again);
}

}  // namespace
}  // namespace ebb::test
