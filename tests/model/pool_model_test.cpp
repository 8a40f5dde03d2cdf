// A million random calls against a plain model: a map of live ranges. Seeds are printed, and the
// seed of a failing run can be given in EBB_SEED.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/pool.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "support/seed.hpp"

namespace ebb {
namespace {

using Touch = SimulatedDevice::Touch;
using Access = SimulatedDevice::Access;

// Sizes of all kinds: mostly small, some large, a few huge.
std::size_t random_size(std::mt19937_64& random) {
  const int bits = int(random() % 100 < 80 ? 6 + random() % 10 : 16 + random() % 6);
  return std::size_t{1} + random() % (std::size_t{1} << bits);
}

class Model {
 public:
  struct Live {
    Block block;
    UseNote* note = nullptr;
  };

  Model(Pool& pool, std::uint64_t seed) : pool_(pool), random_(seed) {}

  void allocate(StreamId stream) {
    const std::size_t bytes = random_size(random_);
    const Block block = pool_.allocate(bytes, stream);
    if (!block) {
      ++refused_;
      return;
    }
    ++allocations_;
    ASSERT_GE(pool_.block_bytes(block), bytes);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % Pool::kAlignment, 0u);
    insert(block);
    live_.push_back({block});
  }

  void insert(Block block) {
    const std::size_t bytes = pool_.block_bytes(block);
    const auto [it, fresh] = ranges_.emplace(block.data, bytes);
    ASSERT_TRUE(fresh);
    if (it != ranges_.begin()) {
      const auto prev = std::prev(it);
      ASSERT_LE(prev->first + prev->second, block.data);
    }
    const auto next = std::next(it);
    if (next != ranges_.end()) {
      ASSERT_LE(block.data + bytes, next->first);
    }
    in_use_ += bytes;
  }

  void free_one() {
    if (live_.empty()) return;
    const std::size_t at = random_() % live_.size();
    const Live gone = live_[at];
    live_[at] = live_.back();
    live_.pop_back();
    ASSERT_EQ(ranges_.erase(gone.block.data), 1u);
    in_use_ -= pool_.block_bytes(gone.block);
    pool_.free(gone.block, gone.note);
  }

  void free_all() {
    while (!live_.empty()) free_one();
  }

  void compare() {
    const PoolStats stats = pool_.stats();
    ASSERT_EQ(stats.in_use, in_use_);
    ASSERT_EQ(stats.allocations, allocations_);
    ASSERT_EQ(stats.frees, allocations_ - live_.size());
    ASSERT_EQ(stats.cached + stats.in_use, stats.committed);
    ASSERT_LE(stats.committed, stats.reserved);
    pool_.check();
  }

  std::vector<Live>& live() { return live_; }
  std::mt19937_64& random() { return random_; }
  std::uint64_t refused() const { return refused_; }

 private:
  Pool& pool_;
  std::mt19937_64 random_;
  std::vector<Live> live_;
  std::map<std::byte*, std::size_t> ranges_;
  std::size_t in_use_ = 0;
  std::uint64_t allocations_ = 0;
  std::uint64_t refused_ = 0;
};

void expect_all_back(Pool& pool) {
  pool.flush_thread();
  pool.wait_pending();
  EXPECT_EQ(pool.stats().in_use, 0u);
  EXPECT_EQ(pool.stats().pending, 0u);
  pool.trim(SIZE_MAX);
  EXPECT_EQ(pool.stats().committed, 0u);
}

void play(Pool& pool, Model& model, int calls) {
  for (int call = 0; call < calls; ++call) {
    const std::uint64_t dice = model.random()() % 1000;
    const bool growing = call / 20000 % 2 == 0;
    if (dice < (growing ? 520 : 470))
      model.allocate(0);
    else if (dice < 997)
      model.free_one();
    else if (dice < 998)
      pool.trim(model.random()() % (8 << 20));
    else if (dice < 999)
      pool.settle();
    else
      pool.flush_thread();
    if (call % 5000 == 0) model.compare();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(PoolModel, AMillionCallsOnSystemMemory) {
  SystemHeap heap;
  Pool pool(heap);
  Model model(pool, test::seed_for("pool", 11));
  play(pool, model, 1'000'000);
  model.free_all();
  model.compare();
  expect_all_back(pool);
}

TEST(PoolModel, UnderALimitThatIsOftenReached) {
  SimulatedDevice device({.granule = 64 << 10, .preferred_span = 32 << 20, .synchronous = true});
  LimitHeap limited(device, std::size_t{24} << 20);
  Pool pool(limited);
  Model model(pool, test::seed_for("pool", 12));
  for (int round = 0; round < 10; ++round) {
    limited.set_limit(std::size_t(16 + model.random()() % 16) << 20);
    play(pool, model, 30'000);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(model.refused(), 0u);
  model.free_all();
  model.compare();
  expect_all_back(pool);
  EXPECT_EQ(limited.committed(), 0u);
}

// Work is queued on a block's home stream, and sometimes on another; the device judges.
class StreamPlay {
 public:
  StreamPlay(SimulatedDevice& device, Pool& pool, Model& model)
      : device_(device), pool_(pool), model_(model) {
    streams_.push_back(kDefaultStream);
    for (int i = 0; i < 3; ++i) streams_.push_back(device.create_stream());
  }

  void step() {
    const std::uint64_t dice = model_.random()() % 1000;
    if (dice < 330) {
      const std::size_t before = model_.live().size();
      model_.allocate(any_stream());
      if (model_.live().size() > before) work(model_.live().back());
    } else if (dice < 650)
      model_.free_one();
    else if (dice < 850)
      work_on_any();
    else if (dice < 980)
      device_.step(model_.random()() % 8);
    else if (dice < 990)
      pool_.settle();
    else if (dice < 992)
      pool_.trim(model_.random()() % (1 << 20));
    else if (dice < 993)
      pool_.wait_pending();
    else
      pool_.flush_thread();
  }

 private:
  StreamId any_stream() { return streams_[model_.random()() % streams_.size()]; }

  void work_on_any() {
    if (!model_.live().empty()) work(model_.live()[model_.random()() % model_.live().size()]);
  }

  // On the home stream, or, in order after it, on another one; home then waits for that in turn, as
  // a program must that shares a block between streams.
  void work(Model::Live& live) {
    const StreamId home = Pool::home_stream(live.block);
    const Touch touch{live.block.data, pool_.block_bytes(live.block), Access::kWrite};
    const StreamId other = any_stream();
    if (other == home || model_.random()() % 3 != 0 || live.note != nullptr) {
      if (live.note == nullptr) device_.submit(home, {touch});
      return;
    }
    ASSERT_TRUE(pool_.note_use(live.block, live.note, other));
    const auto event = device_.record(home);
    ASSERT_TRUE(event.has_value());
    device_.order(other, *event);
    device_.submit(other, {touch});  // and home never waits for it: only the pool can
  }

  SimulatedDevice& device_;
  Pool& pool_;
  Model& model_;
  std::vector<StreamId> streams_;
};

class PoolModelStreams : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PoolModelStreams, NoBlockIsHandedOutBeforeItsWorkIsDone) {
  const std::uint64_t seed = test::seed_for("pool", GetParam());
  SimulatedDevice device({.capacity = std::size_t{48} << 20,
                          .granule = 64 << 10,
                          .preferred_span = 64 << 20,
                          .seed = seed,
                          .max_duration = 12});
  Pool pool(device);
  Model model(pool, seed);
  StreamPlay play(device, pool, model);
  for (int call = 0; call < 170'000; ++call) {
    play.step();
    if (call % 2000 == 0) model.compare();
    if (::testing::Test::HasFatalFailure()) return;
  }
  model.free_all();
  model.compare();
  expect_all_back(pool);
  const auto violations = device.violations();
  EXPECT_EQ(violations.size(), 0u) << violations[0].what;
  EXPECT_EQ(device.committed(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolModelStreams, ::testing::Values(21, 22, 23, 24, 25, 26));

}  // namespace
}  // namespace ebb
