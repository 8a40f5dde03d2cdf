// The scheduler finds what it is for.
#include "base/process_barrier.hpp"
#include "schedules/explore.hpp"

namespace ebb::schedules {
namespace {

TEST(Scheduler, FindsAMissingRelease) {
  for (const auto order : {std::memory_order_release, std::memory_order_relaxed}) {
    Explorer explorer;
    const bool holds = explorer.all(2, [&](Schedule& run) {
      Plain<int> data;
      atomic<bool> ready{false};
      run.thread([&] {
        data.set(1);
        ready.store(true, order);
      });
      run.thread([&] {
        if (ready.load(std::memory_order_acquire)) static_cast<void>(data.get());
      });
      run.start();
    });
    EXPECT_EQ(holds, order == std::memory_order_release) << explorer.failure();
  }
}

TEST(Scheduler, FindsATestBeforeAWrite) {
  Explorer explorer;
  EXPECT_FALSE(explorer.all(1, [](Schedule& run) {
    atomic<int> used{0};
    const auto take = [&] {
      if (used.load() < 1) used.store(used.load() + 1);
    };
    int taken = 0;
    const auto count = [&] {
      if (used.load() < 1) {
        ++taken;
        take();
      }
    };
    run.thread(count);
    run.thread(count);
    run.start();
    run.expect(taken == 1, "both found room for one");
  }));
  EXPECT_EQ(explorer.failure(), "both found room for one");
}

TEST(Scheduler, FindsADeadlock) {
  Explorer explorer;
  EXPECT_FALSE(explorer.all(1, [](Schedule& run) {
    Lock a, b;
    const auto both = [](Lock& first, Lock& second) {
      const std::lock_guard outer(first);
      const std::lock_guard inner(second);
    };
    run.thread([&] { both(a, b); });
    run.thread([&] { both(b, a); });
    run.start();
  }));
  EXPECT_EQ(explorer.failure(), "all threads wait");
}

constexpr auto kRelaxed = std::memory_order_relaxed;

// Two that store and then look at what the other has stored: one of them finds it.
bool one_finds_the_other(std::memory_order order, bool with_barrier) {
  Explorer explorer;
  explorer.old_values = true;
  return explorer.all(3, [&](Schedule& run) {
    atomic<int> x{0}, y{0};
    int seen_x = 0, seen_y = 0;
    run.thread([&] {
      x.store(1, order);
      seen_y = y.load(order);
    });
    run.thread([&] {
      y.store(1, order);
      if (with_barrier) static_cast<void>(process_barrier());
      seen_x = x.load(order);
    });
    run.start();
    run.expect(seen_x == 1 || seen_y == 1, "neither found the other");
  });
}

TEST(Scheduler, KnowsWhatOnlyATotalOrderOrABarrierGives) {
  EXPECT_TRUE(one_finds_the_other(std::memory_order_seq_cst, false));
  EXPECT_TRUE(one_finds_the_other(kRelaxed, true));
  EXPECT_FALSE(one_finds_the_other(kRelaxed, false));
}

// The same where one of the two has a fence of its own, and the other an exchange and a load.
bool one_finds_the_other(bool with_fence, std::memory_order exchange, std::memory_order load) {
  Explorer explorer;
  explorer.old_values = true;
  return explorer.all(3, [&](Schedule& run) {
    atomic<int> x{0}, y{0};
    int seen_x = 0, seen_y = 0;
    run.thread([&] {
      x.exchange(1, exchange);
      seen_y = y.load(load);
    });
    run.thread([&] {
      y.store(1, kRelaxed);
      if (with_fence) thread_barrier();
      seen_x = x.load(kRelaxed);
    });
    run.start();
    run.expect(seen_x == 1 || seen_y == 1, "neither found the other");
  });
}

TEST(Scheduler, KnowsWhatAFenceGives) {
  constexpr auto kTotal = std::memory_order_seq_cst;
  EXPECT_TRUE(one_finds_the_other(true, kTotal, kTotal));
  EXPECT_FALSE(one_finds_the_other(false, kTotal, kTotal));
  EXPECT_FALSE(one_finds_the_other(true, std::memory_order_acq_rel, kTotal));
  EXPECT_FALSE(one_finds_the_other(true, kTotal, std::memory_order_acquire));
}

TEST(Scheduler, FindsAnOldValueWhereNothingPassedTheNewOneOn) {
  for (const auto order : {std::memory_order_release, kRelaxed}) {
    for (const bool old_values : {false, true}) {
      Explorer explorer;
      explorer.old_values = old_values;
      const bool holds = explorer.all(2, [&](Schedule& run) {
        atomic<int> data{0}, ready{0};
        run.thread([&] {
          data.store(1, kRelaxed);
          ready.store(1, order);
        });
        run.thread([&] {
          if (ready.load(std::memory_order_acquire) == 1) {
            run.expect(data.load(kRelaxed) == 1, "it is not ready");
          }
        });
        run.start();
      });
      EXPECT_EQ(holds, order == std::memory_order_release || !old_values);
    }
  }
}

#if defined(EBB_WATCH_MEMORY)
TEST(Scheduler, FindsOrdinaryMemoryThatNothingPassedOn) {
  for (const auto order : {std::memory_order_release, kRelaxed}) {
    Explorer explorer;
    const bool holds = explorer.all(2, [&](Schedule& run) {
      const auto data = std::make_unique<int>(0);
      atomic<bool> ready{false};
      int read = 0;
      run.thread([&] {
        *data = 1;
        ready.store(true, order);
      });
      run.thread([&] {
        if (ready.load(std::memory_order_acquire)) read = *data;
      });
      run.start();
      run.expect(read <= 1, "a value that nobody wrote");
    });
    EXPECT_EQ(holds, order == std::memory_order_release) << explorer.failure();
  }
}
#endif

}  // namespace
}  // namespace ebb::schedules
