// Magazines and their recall under schedules: a block is in one hand, whatever is taken from whom
// while it is popped or pushed, and what idle threads have cached is within reach.
#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/pool.hpp"
#include "schedules/explore.hpp"
#include "schedules/scheduled_heap.hpp"

namespace ebb::schedules {
namespace {

constexpr std::size_t kSmall = 1000;
constexpr std::size_t kEverything = ~std::size_t{0} >> 1;

struct World {
  explicit World(Schedule& schedule) : run(schedule) {}

  // Whoever has a block writes into it; whoever else had it would find that.
  Block take(std::uint64_t who, std::size_t bytes = kSmall) {
    const Block block = pool.allocate(bytes);
    if (block) word(block) = who;
    return block;
  }
  void give(std::uint64_t who, Block block) {
    if (!block) return;
    run.expect(word(block) == who, "two have one block");
    word(block) = 0;
    pool.free(block);
  }
  static std::uint64_t& word(Block block) { return *reinterpret_cast<std::uint64_t*>(block.data); }
  // Some blocks in this thread's magazine.
  void stock() {
    run.at_once([&] {
      const std::array<Block, 2> blocks{pool.allocate(kSmall), pool.allocate(kSmall)};
      for (const Block& block : blocks) pool.free(block);
    });
  }
  void use(std::uint64_t who) {
    const Block first = take(who);
    const Block second = take(who);
    give(who, first);
    const Block third = take(who);
    give(who, second);
    give(who, third);
  }
  // After the threads: everything is there, and can go back.
  void check_all_is_back() {
    pool.check();
    run.expect(pool.stats().in_use == 0, "a block is missing");
    pool.flush_thread();
    pool.trim(kEverything);
    run.expect(limited.committed() == 0, "memory that cannot be given back");
  }

  Schedule& run;
  CountingHeap memory;
  LimitHeap limited{memory, 2 * CountingHeap::kGranule};
  Pool pool{limited};
};

TEST(MagazineSchedules, ABlockIsInOneHandWhileAnotherTrims) {
  explore("pops and pushes while another trims", [](Schedule& run) {
    World world(run);
    run.thread([&] {
      world.stock();
      world.use(1);
    });
    run.thread([&] {
      world.pool.trim(kEverything);
      world.give(2, world.take(2));
    });
    run.start();
    world.check_all_is_back();
  });
}

// The taker may come between a push and the look at the gate: what it takes then was written before.
TEST(MagazineSchedules, ABlockThatIsBeingPushedIsTakenAsItIs) {
  explore(
      "one push while another trims",
      [](Schedule& run) {
        World world(run);
        bool stocked = false, trims = false;
        run.thread([&] {
          Block block;
          run.at_once([&] {
            world.stock();
            block = world.take(1);
          });
          stocked = true;
          run.until([&] { return trims; });
          world.give(1, block);
        });
        run.thread([&] {
          run.until([&] { return stocked; });
          Schedule::at_once_to_barrier();
          trims = true;
          world.pool.trim(kEverything);
        });
        run.start();
        world.check_all_is_back();
      },
      2);
}

TEST(MagazineSchedules, ABlockIsInOneHandWhileAnotherNeedsItsMemory) {
  explore("pops and pushes while another needs the memory", [](Schedule& run) {
    World world(run);
    run.thread([&] {
      world.stock();
      world.use(1);
    });
    run.thread([&] { world.give(2, world.take(2, 2 * CountingHeap::kGranule)); });
    run.thread([&] { world.give(3, world.take(3)); });
    run.start();
    world.check_all_is_back();
  });
}

TEST(MagazineSchedules, WhatAnIdleThreadHasCachedIsWithinReach) {
  explore("an idle thread, and another that needs all memory", [](Schedule& run) {
    World world(run);
    bool idle = false, over = false;
    run.thread([&] {
      world.stock();
      world.use(1);
      idle = true;
      run.until([&] { return over; });
      world.use(1);
    });
    run.thread([&] {
      const bool was_idle = idle;
      const Block block = world.take(2, 2 * CountingHeap::kGranule);
      run.expect(block || !was_idle, "an idle thread keeps what another needs");
      world.give(2, block);
      over = true;
    });
    run.start();
    world.check_all_is_back();
  });
}

TEST(MagazineSchedules, TwoTakersShareWhatAThirdHasCached) {
  explore("two that need memory and one that has it cached", [](Schedule& run) {
    World world(run);
    run.thread([&] {
      world.stock();
      world.give(1, world.take(1));
    });
    for (std::uint64_t who : {2, 3}) {
      run.thread([&, who] { world.give(who, world.take(who, CountingHeap::kGranule)); });
    }
    run.start();
    world.check_all_is_back();
  });
}

// The large block that was freed last is in a slot of its thread's, whose size others read.
TEST(MagazineSchedules, WhatIsCountedIsThere) {
  explore("a large block that goes and comes while another counts", [](Schedule& run) {
    World world(run);
    run.thread([&] {
      world.give(1, world.take(1, CountingHeap::kGranule / 2));
      world.give(1, world.take(1, CountingHeap::kGranule / 4));
      world.give(1, world.take(1));
    });
    run.thread([&] {
      const PoolStats stats = world.pool.stats();
      run.expect(stats.in_use <= stats.committed, "more is in use than there is");
      world.give(2, world.take(2, CountingHeap::kGranule));
    });
    run.start();
    world.check_all_is_back();
  });
}

}  // namespace
}  // namespace ebb::schedules
