// The child of a fork has one thread; whatever the others were doing in a context, it works there,
// and so do new ones.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "ebb/tensor/context.hpp"
#include "process/child.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

constexpr unsigned kSeconds = 30;
constexpr int kChildren = 60;

struct SlowHost : Host {
  bool can_collect() const override { return true; }
  std::uint64_t collect(Collection) override {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return 1;
  }
};

// Every kind of call that another thread can be inside of when the process forks.
class BusyContext {
 public:
  BusyContext() {
    for (int kind = 0; kind < 5; ++kind) {
      threads_.emplace_back([this, kind] {
        while (!stop_) act(kind);
      });
    }
  }
  ~BusyContext() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  Handle make(RegionId region = 0) {
    return context->make({.device = cpu.get(), .shape = {20}, .region = region});
  }
  Handle adopt() { return context->adopt({.device = wasm.get(), .bytes = 8}); }

  OpenDevice cpu{DeviceOptions{.name = "cpu"}};
  OpenDevice wasm{DeviceOptions{.kind = DeviceKind::kForeign, .name = "wasm"}};
  SlowHost host;
  ContextPtr context = Context::create({.name = "busy", .host = &host});

 private:
  void act(int kind) {
    switch (kind) {
      case 0: {  // grows and gives back chunks of records
        std::vector<Handle> all;
        for (int i = 0; i < 5000; ++i) all.push_back(make());
        for (const Handle handle : all) context->dispose(handle);
        break;
      }
      case 1:
        for (int i = 0; i < 100; ++i) Context::orphan(adopt());
        break;
      case 2: {
        const RegionId region = context->open();
        for (int i = 0; i < 200; ++i) make(region);
        context->close(region);
        break;
      }
      case 3:
        context->safe_point();
        context->collect(Collection::kMajor);
        break;
      default:
        Context::create({.name = "short"})->make({.device = cpu.get()});
        static_cast<void>(Context::total_memory());
    }
  }

  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// What a child does with the context of its parent and with one of its own.
int use(BusyContext& busy) {
  const ContextPtr own = Context::create({.name = "child"});
  const Handle mine = own->make({.device = busy.cpu.get(), .shape = {100}});
  const Handle theirs = busy.make();
  Context::orphan(busy.adopt());
  Context::orphan(mine);
  own->safe_point();
  busy.context->safe_point();
  busy.context->collect(Collection::kMajor);
  if (busy.context->memory().orphans != 0) return 1;  // none waits behind a notice that never comes
  if (own->memory().books.live != 0) return 2;
  const RegionId region = busy.context->open();
  for (int i = 0; i < 3000; ++i) busy.make(region);
  if (!busy.context->close(region) || !busy.context->dispose(theirs)) return 3;
  if (!busy.context->close()) return 4;
  return own->close() ? 0 : 5;
}

TEST(ContextFork, AChildWorksWhateverTheThreadsWereDoing) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "g++ 12's AddressSanitizer leaves the locks of its own allocator taken in a child";
#endif
  ReclaimOn on;
  BusyContext busy;
  for (int i = 0; i < kChildren; ++i) {
    ASSERT_EQ(in_forked_child(kSeconds, [&] { return use(busy); }), 0) << "child " << i;
  }
}

TEST(ContextFork, AGrandchildWorksToo) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "g++ 12's AddressSanitizer leaves the locks of its own allocator taken in a child";
#endif
  ReclaimOn on;
  BusyContext busy;
  const auto child = [&] {
    return in_forked_child(kSeconds, [&] { return use(busy); }) + use(busy);
  };
  for (int i = 0; i < 5; ++i) ASSERT_EQ(in_forked_child(kSeconds, child), 0);
}

}  // namespace
}  // namespace ebb::test
