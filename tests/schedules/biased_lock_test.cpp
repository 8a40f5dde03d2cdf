// The biased lock while its owner changes, under every schedule of a few preemptions.
#include "memory/biased_lock.hpp"

#include "schedules/explore.hpp"

namespace ebb::schedules {
namespace {

constexpr std::uint32_t kAtOnce = 1;  // whoever takes it twice in a row is the owner

struct World {
  explicit World(Schedule& schedule) : run(schedule) {}

  void use(int times) {
    for (int i = 0; i < times; ++i) {
      const std::lock_guard guard(lock);
      run.expect(!used, "two are inside");
      used = true;
      run.step();
      used = false;
      ++uses;
    }
  }

  Schedule& run;
  BiasedLock lock{kAtOnce};
  bool used = false;
  int uses = 0;
};

// What is made once a process is not a step of the first schedule alone.
void make_ready() {
  BiasedLock lock(kAtOnce);
  for (int i = 0; i < 3; ++i) const std::lock_guard guard(lock);
}

TEST(BiasedLockSchedules, OneIsInsideWhileAnOwnershipEnds) {
  make_ready();
  explore("an owner and another thread", [](Schedule& run) {
    World world(run);
    run.thread([&] { world.use(4); });
    run.thread([&] { world.use(1); });
    run.start();
    run.expect(world.uses == 5, "a use is lost");
  });
}

TEST(BiasedLockSchedules, OneIsInsideWhileBothBecomeOwners) {
  make_ready();
  explore("two owners in turn", [](Schedule& run) {
    World world(run);
    run.thread([&] { world.use(3); });
    run.thread([&] { world.use(3); });
    run.start();
    run.expect(world.uses == 6, "a use is lost");
  });
}

TEST(BiasedLockSchedules, AThirdOneSeesWhoIsInside) {
  make_ready();
  explore("two owners in turn, and a third thread", [](Schedule& run) {
    World world(run);
    run.thread([&] { world.use(3); });
    run.thread([&] { world.use(3); });
    run.thread([&] { world.use(1); });
    run.start();
    run.expect(world.uses == 7, "a use is lost");
  });
}

}  // namespace
}  // namespace ebb::schedules
