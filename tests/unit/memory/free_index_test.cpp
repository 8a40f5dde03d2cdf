#include "memory/pool/free_index.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <vector>

#include "support/seed.hpp"

namespace ebb::detail {
namespace {

using Key = std::pair<std::size_t, std::byte*>;

class FreeIndexModel : public ::testing::Test {
 protected:
  static constexpr std::size_t kChunks = 4000;

  void insert(std::size_t i, std::size_t quanta) {
    Chunk& chunk = chunks_[i];
    chunk.bytes = quanta * kQuantum;
    chunk.base = reinterpret_cast<std::byte*>((i * 7919 % kChunks + 1) << 20);
    index_.insert(&chunk);
    model_.insert({chunk.bytes, chunk.base});
  }
  void remove(std::size_t i) {
    index_.remove(&chunks_[i]);
    model_.erase({chunks_[i].bytes, chunks_[i].base});
  }
  void expect_best_fit(std::size_t bytes) {
    const Chunk* found = index_.find(bytes);
    const auto best = model_.lower_bound({bytes, nullptr});
    ASSERT_EQ(found != nullptr, best != model_.end());
    if (found == nullptr) return;
    ASSERT_EQ(Key(found->bytes, found->base), *best);
  }
  void expect_largest() {
    ASSERT_EQ(index_.largest(), model_.empty() ? 0 : model_.rbegin()->first);
    if (model_.size() < 2) return;
    const auto not_the_largest = [&](const Chunk* chunk) {
      return chunk->base != model_.rbegin()->second;
    };
    const Chunk* second = index_.find_largest(0, not_the_largest);
    ASSERT_EQ(Key(second->bytes, second->base), *std::next(model_.rbegin()));
  }

  std::vector<Chunk> chunks_ = std::vector<Chunk>(kChunks);
  FreeIndex index_;
  std::set<Key> model_;
};

TEST_F(FreeIndexModel, OneThatJustFitsIsAskedForToo) {
  constexpr std::size_t kBytes = 4 * kQuantum;
  insert(0, 4);
  const auto none = [](const Chunk*) { return false; };
  const auto any = [](const Chunk*) { return true; };
  EXPECT_EQ(index_.find_largest(kBytes, none), nullptr);
  EXPECT_NE(index_.find_largest(kBytes, any), nullptr);
  EXPECT_EQ(index_.find_largest(kBytes + 1, any), nullptr);
}

// All of them in one bin, where a walk would have to be long to be right.
TEST_F(FreeIndexModel, TheBestFitIsFoundAmongManyOfNearlyOneSize) {
  std::mt19937_64 random(test::seed_for("free index", 31));
  for (std::size_t i = 0; i < kChunks; ++i) insert(i, 4096 + random() % 256);
  for (std::size_t quanta = 4090; quanta < 4360; ++quanta) expect_best_fit(quanta * kQuantum);
  for (std::size_t i = 0; i < kChunks; i += 2) remove(i);
  for (std::size_t quanta = 4090; quanta < 4360; ++quanta) expect_best_fit(quanta * kQuantum);
}

TEST_F(FreeIndexModel, AnyOrderOfCalls) {
  std::mt19937_64 random(test::seed_for("free index", 32));
  std::vector<bool> in(kChunks);
  for (int call = 0; call < 60000; ++call) {
    const std::size_t i = random() % kChunks;
    if (in[i]) {
      remove(i);
    } else {
      insert(i, 64 + random() % (std::size_t{1} << random() % 20));
    }
    in[i] = !in[i];
    expect_best_fit((1 + random() % (std::size_t{1} << random() % 21)) * kQuantum);
    if (call % 16 == 0) expect_largest();
    if (HasFatalFailure()) return;
  }
  std::size_t bytes = 0;
  for (const Key& key : model_) bytes += key.first;
  EXPECT_EQ(index_.bytes(), bytes);
}

}  // namespace
}  // namespace ebb::detail
