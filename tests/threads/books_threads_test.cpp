// Races over the books: bounded by count, not by time; who wins does not matter, the law does.
#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "support/audited.hpp"
#include "support/hosts.hpp"
#include "support/seed.hpp"
#include "tensor/context_registry.hpp"

namespace ebb::test {
namespace {

constexpr std::size_t kThreads = 8;

// Counts what it is told; collects by orphaning what its threads dropped.
struct CountingHost : Host {
  std::atomic<std::uint64_t> ends{0}, lasts{0}, collections{0};
  std::atomic<bool> gone{false};

  bool can_collect() const override { return true; }
  std::uint64_t collect(Collection) override {
    EXPECT_FALSE(gone);
    collections.fetch_add(1);
    return 1000;
  }
  void end(std::span<const ForeignEnd> ended) override {
    EXPECT_FALSE(gone);
    ends.fetch_add(ended.size());
    for (const ForeignEnd& end : ended) lasts.fetch_add(end.last ? 1 : 0);
  }
  void warn(std::string_view) override { EXPECT_FALSE(gone); }
};

void together(std::size_t threads, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) running.emplace_back([&, t] { work(t); });
  for (auto& thread : running) thread.join();
}

// Open, or ended and still holding something.
std::size_t contexts_kept() {
  std::size_t count = 0;
  ContextRegistry::instance().for_each([&](ContextBody&) { ++count; });
  return count;
}

class BooksThreads : public testing::Test {
 protected:
  OpenDevice cpu{
      DeviceOptions{.kind = DeviceKind::kSimulated, .name = "threads cpu", .capacity = 256 << 20}};
  OpenDevice wasm{DeviceOptions{.kind = DeviceKind::kForeign, .name = "threads wasm"}};
  CountingHost host;

  ~BooksThreads() override { set_reclaim(false); }
  ContextPtr create() { return Context::create({.name = "shared", .host = &host}); }
  Handle born(const Context& context, std::uint64_t random, RegionId region = 0) {
    if (random % 2 == 0) {
      return context.make(
          {.device = cpu.get(), .shape = {std::int64_t(random % 500)}, .region = region});
    }
    return context.adopt(
        {.device = wasm.get(), .key = random % 64, .bytes = random % 1000, .region = region});
  }
};

// One thread's part of the work on a shared context.
void live_a_while(const Context& context,
                  const std::function<Handle(std::uint64_t, RegionId)>& born, std::uint64_t seed,
                  int steps) {
  std::mt19937_64 random(seed);
  std::vector<Handle> handles;
  for (int i = 0; i < steps; ++i) {
    const std::uint64_t dice = random();
    switch (dice % 16) {
      case 0: {
        const RegionId region = context.open();
        for (int j = 0; j < 40; ++j) {
          const Handle handle = born(random(), region);
          if (j % 4 == 0) Context::orphan(handle);
          if (j % 4 == 1) context.detach(handle);
          if (j % 4 < 3) handles.push_back(handle);
        }
        context.close(region);
        break;
      }
      case 1:
        context.safe_point();
        break;
      case 2:
        set_reclaim(dice % 3 != 0);
        break;
      case 3:
        context.collect(Collection::kMinor, true);
        break;
      case 4:
        context.memory();
        break;
      case 5: {
        const ContextPtr own = Context::create({.name = "short"});
        own->open();
        break;
      }
      default: {
        const Handle handle = born(dice, 0);
        const StorageRef held = context.hold(handle);
        if (dice % 5 < 2) {
          Context::orphan(handle);
        } else if (dice % 5 < 4) {
          context.dispose(handle);
        } else {
          handles.push_back(handle);
        }
      }
    }
  }
  for (const Handle handle : handles) {
    try {
      context.dispose(handle);
    } catch (const Error&) {
    }
  }
}

TEST_F(BooksThreads, EightWorkInOneContext) {
  const std::uint64_t seed = seed_for("threads", 1);
  set_reclaim(true);
  ContextPtr context = create();
  together(kThreads, [&](std::size_t t) {
    live_a_while(
        *context,
        [&](std::uint64_t random, RegionId region) { return born(*context, random, region); },
        seed + t, 3000);
  });
  EXPECT_NO_THROW(Context::audit());
  set_reclaim(true);
  context->safe_point();
  EXPECT_EQ(context->memory().orphans, 0u);
  const Books books = context->memory().books;
  context.reset();
  EXPECT_GT(books.created, 1000u);
  EXPECT_EQ(wasm->in_use() + cpu->in_use(), 0u);
}

TEST_F(BooksThreads, DisposeRegionEndAndNoticeRaceForTheSameTensors) {
  set_reclaim(true);
  const ContextPtr context = create();
  for (int round = 0; round < 150; ++round) {
    const RegionId region = context->open();
    std::vector<Handle> handles;
    for (std::uint64_t i = 0; i < 100; ++i) handles.push_back(born(*context, i * 2 + 1, region));
    std::barrier start(4);
    std::atomic<std::uint64_t> disposed{0};
    const std::uint64_t told_before = host.ends;
    together(4, [&](std::size_t t) {
      start.arrive_and_wait();
      if (t == 0) {
        for (const Handle handle : handles) disposed += context->dispose(handle) ? 1 : 0;
      } else if (t == 1) {
        for (auto it = handles.rbegin(); it != handles.rend(); ++it) Context::orphan(*it);
      } else if (t == 2) {
        context->close(region);
      } else {
        for (int i = 0; i < 20; ++i) context->safe_point();
      }
    });
    context->safe_point();
    // Each ended once, for one reason, and the host was told of all that it did not end itself.
    ASSERT_EQ(context->memory().books.live, 0u);
    ASSERT_EQ(disposed + (host.ends - told_before), handles.size());
  }
  EXPECT_EQ(context->memory().books.created, 15000u);
}

TEST_F(BooksThreads, AContextClosesWhileOthersWorkInIt) {
  set_reclaim(true);
  for (int round = 0; round < 200; ++round) {
    auto own_host = std::make_unique<CountingHost>();
    ContextPtr context = Context::create({.name = "closing", .host = own_host.get()});
    const Context shared = *context;
    std::vector<RegionId> regions;
    std::vector<Handle> handles;
    for (int r = 0; r < 3; ++r) {
      regions.push_back(shared.open());
      for (std::uint64_t i = 0; i < 100; ++i) {
        handles.push_back(born(shared, i, regions.back()));
        if (i % 3 == 0) shared.attach_temporarily(regions[0], handles.back());
      }
    }
    std::barrier start(4);
    together(4, [&](std::size_t t) {
      start.arrive_and_wait();
      try {
        if (t == 0) {
          context.reset();
          own_host->gone = true;  // from here on it must not be called
        } else if (t == 1) {
          for (const RegionId region : regions) shared.close(region);
        } else if (t == 2) {
          for (const Handle handle : handles) Context::orphan(handle);
        } else {
          for (int i = 0; i < 10; ++i) shared.safe_point();
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kStaleHandle) << error.what();
      }
    });
    ASSERT_NO_THROW(Context::audit());
    ASSERT_EQ(cpu->in_use() + wasm->in_use(), 0u);
    ASSERT_EQ(contexts_kept(), 0u);  // retired, whoever came last
  }
}

TEST_F(BooksThreads, HoldsAreLetGoWhileTheirContextCloses) {
  for (int round = 0; round < 200; ++round) {
    ContextPtr context = Context::create({.name = "held"});
    const Context shared = *context;
    std::vector<StorageRef> refs;
    std::vector<Handle> names;
    for (std::uint64_t i = 0; i < 8; ++i) {
      const Handle handle = born(shared, i);
      refs.push_back(shared.hold(handle));
      names.push_back(shared.hold_by_name(handle));
    }
    std::barrier start(3);
    together(3, [&](std::size_t t) {
      start.arrive_and_wait();
      if (t == 0) context.reset();
      if (t == 1) refs.clear();
      if (t == 2) {
        for (const Handle name : names) {
          Context::orphan(name);  // forged: goes through the queue while it is let go
          EXPECT_TRUE(Context::release_by_name(name));
        }
      }
    });
    ASSERT_EQ(contexts_kept(), 0u);
    ASSERT_EQ(cpu->in_use() + wasm->in_use(), 0u);
  }
}

TEST_F(BooksThreads, ContextsOpenAndCloseOnAllThreads) {
  set_reclaim(true);
  together(kThreads, [&](std::size_t t) {
    for (std::uint64_t round = 0; round < 200; ++round) {
      CountingHost own;
      {
        const ContextPtr context = Context::create({.name = "own", .host = &own});
        for (std::uint64_t i = 0; i < 30; ++i) {
          const Handle handle = born(*context, t * 1000 + round + i);
          if (i % 3 == 0) Context::orphan(handle);
        }
        context->safe_point();
        EXPECT_TRUE(context->memory().books.balanced());
      }
      own.gone = true;
      if (round % 10 == 0) Context::total_memory();
    }
  });
}

// The next context takes the place of the one that ends, while others still call it by name.
TEST_F(BooksThreads, WhatIsMadeByNameNeverLandsInTheNextContext) {
  set_reclaim(true);
  for (int round = 0; round < 60; ++round) {
    const Context ending = Context::begin({.name = "ending", .host = &host});
    std::barrier start(4);
    std::atomic<bool> stop{false};
    std::optional<Context> next;
    together(4, [&](std::size_t t) {
      start.arrive_and_wait();
      if (t == 0) {
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        EXPECT_TRUE(ending.close());
        next = Context::begin({.name = "next", .host = &host});
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        stop = true;
        return;
      }
      for (std::uint64_t i = 0; !stop; ++i) {
        try {
          const Handle handle = born(ending, i * 4 + t, t == 3 ? ending.open() : 0);
          if (i % 3 == 0) {
            Context::orphan(handle);
          } else {
            ending.dispose(handle);
          }
          ending.safe_point();
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kStaleHandle) << error.what();
        }
      }
    });
    ASSERT_EQ(next->memory().books.created, 0u);
    ASSERT_EQ(next->memory().regions, 0u);
    ASSERT_TRUE(next->close());
    ASSERT_EQ(cpu->in_use() + wasm->in_use(), 0u);
  }
}

TEST_F(BooksThreads, OfThoseWhoEndAContextAtOnceOneDoes) {
  struct OwnHost : CountingHost {
    explicit OwnHost(std::atomic<int>& hosts) : alive(hosts) { ++alive; }
    ~OwnHost() override {
      gone = true;
      --alive;
    }
    std::atomic<int>& alive;
  };
  std::atomic<int> hosts{0};
  for (int round = 0; round < 60; ++round) {
    const Context context =
        Context::begin({.name = "ended at once", .own_host = std::make_unique<OwnHost>(hosts)});
    for (std::uint64_t i = 0; i < 100; ++i) born(context, i);
    std::barrier start(3);
    std::atomic<int> ended{0}, opened{0};
    together(3, [&](std::size_t t) {
      start.arrive_and_wait();
      if (t < 2) {
        ended += context.close() ? 1 : 0;
      } else {  // takes the place, if it is free by then
        const ContextPtr other =
            Context::create({.name = "other", .own_host = std::make_unique<OwnHost>(hosts)});
        born(*other, 1);
        ++opened;
      }
    });
    ASSERT_EQ(ended, 1);
    ASSERT_EQ(opened, 1);
    ASSERT_EQ(hosts, 0);
    ASSERT_EQ(contexts_kept(), 0u);
  }
}

TEST_F(BooksThreads, NoticesArriveWhileTheSafePointDrains) {
  set_reclaim(true);
  const ContextPtr context = create();
  std::vector<Handle> handles;
  for (std::uint64_t i = 0; i < 20000; ++i)
    handles.push_back(context->adopt({.device = wasm.get()}));
  std::atomic<std::size_t> noticing{3};
  std::uint64_t drained = 0;
  together(4, [&](std::size_t t) {
    if (t < 3) {  // each notice comes from two threads
      for (std::size_t i = 0; i < handles.size(); ++i) {
        if (i % 3 != t) Context::orphan(handles[i]);
      }
      --noticing;
    } else {
      while (noticing != 0) drained += context->safe_point().tensors;
      drained += context->safe_point().tensors;
    }
  });
  EXPECT_EQ(drained, handles.size());
  EXPECT_EQ(host.ends, handles.size());
}

TEST_F(BooksThreads, ARequestUnderPressureIsServedOnEveryThread) {
  set_reclaim(true);
  cpu->set_budget(24 << 20, BudgetMode::kHard);
  const ContextPtr context = create();
  together(4, [&](std::size_t) {
    for (int i = 0; i < 60; ++i) {
      const Handle handle = context->make({.device = cpu.get(), .shape = {1 << 18}});
      const StorageRef held = context->hold(handle);
      Context::orphan(handle);  // a careless host
    }
  });
  EXPECT_LE(cpu->committed(), 24u << 20);
  EXPECT_EQ(context->memory().books.created, 240u);
}

}  // namespace
}  // namespace ebb::test
