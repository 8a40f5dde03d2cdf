// A race for names of one kind: eight threads make, use and end what a board of a few places names,
// ended names among them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "ebb.h"
#include "support/seed.hpp"

namespace ebb::test {

// A name, and what must be true of whatever it names.
struct Named {
  std::uint64_t name = 0;
  std::uint64_t mark = 0;
};

// What is done with names of one kind. Called from eight threads at once.
class NameKind {
 public:
  virtual ~NameKind() = default;
  virtual Named make(std::uint64_t number) = 0;
  // EBB_OK: it was there, and was what its mark says; EBB_STALE_HANDLE: it has ended. Whatever else
  // it is, the kind has failed the test.
  virtual ebb_status use(const Named& named) = 0;
  // EBB_OK: it has ended, now or before. EBB_WRONG_STATE: not while others use it.
  virtual ebb_status end(const Named& named) = 0;
};

class NamesRace {
 public:
  static constexpr std::size_t kThreads = 8;
  static constexpr std::size_t kPlaces = 8;

  explicit NamesRace(NameKind& kind) : kind_(kind) {}

  // Each thread does `steps` things. At the end all that was made has ended.
  void run(const char* what, std::uint64_t steps) {
    const std::uint64_t seed = seed_for(what, 40);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([=, this] {
        std::mt19937_64 random(seed + t);
        for (std::uint64_t step = 0; step < steps; ++step) act(random);
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (Place& place : board_) {
      if (place.now.name != 0) end_surely(place.now);
    }
    note("{}: {} made, {} used, {} refused as ended", what, made_.load(), used_.load(),
         refused_.load());
    EXPECT_GT(used_, 0u);
    EXPECT_GT(refused_, 0u);
  }

 private:
  struct Place {
    std::mutex mutex;  // guards the two words, not what is done with them
    Named now;
  };

  void act(std::mt19937_64& random) {
    Place& place = board_[random() % kPlaces];
    const std::uint64_t which = random() % 8;
    if (which < 2) return make(place);
    Named named;
    {
      const std::lock_guard guard(place.mutex);
      named = place.now;
    }
    if (named.name == 0) return;
    which < 6 ? use(named) : end(named);
  }
  void make(Place& place) {
    Named named = kind_.make(++made_);
    if (named.name == 0) return;
    {
      const std::lock_guard guard(place.mutex);
      std::swap(named, place.now);
    }
    if (named.name != 0) end_surely(named);
  }
  void use(const Named& named) {
    const ebb_status status = kind_.use(named);
    if (status == EBB_OK) ++used_;
    if (status == EBB_STALE_HANDLE) ++refused_;
    EXPECT_TRUE(status == EBB_OK || status == EBB_STALE_HANDLE) << status << ebb_last_error();
  }
  void end(const Named& named) {
    const ebb_status status = kind_.end(named);
    EXPECT_TRUE(status == EBB_OK || status == EBB_WRONG_STATE) << status << ebb_last_error();
    // Whoever else had it: once its end has returned, it is no name.
    if (status == EBB_OK) {
      EXPECT_EQ(kind_.use(named), EBB_STALE_HANDLE) << named.name;
    }
  }
  void end_surely(const Named& named) {
    while (kind_.end(named) == EBB_WRONG_STATE) std::this_thread::yield();
  }

  NameKind& kind_;
  std::array<Place, kPlaces> board_;
  std::atomic<std::uint64_t> made_{0}, used_{0}, refused_{0};
};

}  // namespace ebb::test
