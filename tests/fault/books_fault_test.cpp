// Every allocation of every scenario fails once, and then all from it on, in turn (SQLite's way):
// no crash, no leak, the law holds, and the next call works.
#include <new>
#include <optional>

#include "fault/failing_new.hpp"
#include "fault/scenarios.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::fault {
namespace {

class BooksFault : public testing::TestWithParam<std::size_t> {
 protected:
  const Scenario& scenario = scenarios()[GetParam()];
  World world;
  static inline std::uint64_t points = 0;

  static void TearDownTestSuite() {
    test::note("books: {} fault points in {} scenarios", points, scenarios().size());
  }

  // Out of memory is the only thing that may come out of it.
  void play() {
    try {
      scenario.run(world);
    } catch (const std::bad_alloc&) {
    } catch (const OutOfMemory&) {
    }
  }
  void the_next_call_works() {
    ASSERT_NO_THROW(Context::audit());
    ASSERT_EQ(world.cpu->in_use() + world.wasm->in_use() + world.webgl->in_use(), 0u);
    const ContextPtr context = Context::create({.name = "after"});
    const Handle own = context->make({.device = world.cpu.get(), .shape = {500}});
    const Handle foreign = context->adopt({.device = world.wasm.get(), .key = 7, .bytes = 3});
    const RegionId region = context->open();
    context->attach(region, own);
    ASSERT_TRUE(context->close(region));
    ASSERT_TRUE(context->dispose(foreign));
    ASSERT_NO_THROW(Context::audit());
    world.give_all_back();
  }
  // Until it gets through without a failure.
  template <typename Arm, typename Disarm>
  void fail_in_turn(Arm&& arm, Disarm&& disarm, std::optional<std::int64_t> baseline) {
    for (const bool and_later : {false, true}) {
      for (std::uint64_t n = 1;; ++n) {
        arm(n, and_later);
        play();
        const bool failed = disarm() != 0;
        the_next_call_works();
        ASSERT_EQ(outstanding(), baseline.value_or(outstanding())) << "leaked at " << n;
        if (HasFatalFailure()) FAIL() << scenario.name << ", fault " << n << (and_later ? "+" : "");
        if (!failed) break;
        ++points;
      }
    }
  }
  void fail_new_in_turn(std::optional<std::int64_t> baseline) {
    fail_in_turn(fail_new_at, stop_failing_new, baseline);
  }
};

// The first time through, tables that only ever grow are not there yet; the second time nothing may
// stay behind.
TEST_P(BooksFault, WhenNewFails) {
  fail_new_in_turn({});
  play();
  the_next_call_works();
  fail_new_in_turn(outstanding());
}

TEST_P(BooksFault, WhenTheDeviceFails) {
  play();
  the_next_call_works();
  FaultHeap& faults = world.heap->faults;
  const std::int64_t baseline = outstanding();
  fail_in_turn([&](std::uint64_t n, bool and_later) { faults.fail_at(n, and_later); },
               [&] {
                 const std::uint64_t failed = faults.faults();
                 faults.fail_at(0);
                 return failed;
               },
               baseline);
  EXPECT_TRUE(world.heap->device.violations().empty());
}

INSTANTIATE_TEST_SUITE_P(All, BooksFault, testing::Range(std::size_t{0}, scenarios().size()),
                         [](const auto& index) {
                           return std::string(scenarios()[index.param].name);
                         });

}  // namespace
}  // namespace ebb::fault
