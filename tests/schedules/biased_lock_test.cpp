// The biased lock while its owner changes, under every schedule of a few preemptions.
#include "memory/biased_lock.hpp"

#include <initializer_list>
#include <numeric>

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

// Each thread uses the lock so often; no schedule loses a use, or lets two in.
void explore_uses(const char* what, std::initializer_list<int> uses) {
  make_ready();
  explore(what, [&](Schedule& run) {
    World world(run);
    for (const int times : uses) run.thread([&world, times] { world.use(times); });
    run.start();
    run.expect(world.uses == std::accumulate(uses.begin(), uses.end(), 0), "a use is lost");
  });
}

TEST(BiasedLockSchedules, OneIsInsideWhileAnOwnershipEnds) {
  explore_uses("an owner and another thread", {4, 1});
}

TEST(BiasedLockSchedules, OneIsInsideWhileBothBecomeOwners) {
  explore_uses("two owners in turn", {3, 3});
}

TEST(BiasedLockSchedules, AThirdOneSeesWhoIsInside) {
  explore_uses("two owners in turn, and a third thread", {3, 3, 1});
}

}  // namespace
}  // namespace ebb::schedules
