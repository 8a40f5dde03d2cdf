// Failures one after another: each allocation of an attempt fails once, and then all from it on.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>

#include "ebb/tensor/context.hpp"
#include "fault/failing_new.hpp"
#include "fault/scenarios.hpp"

namespace ebb::fault {

// Where allocations are made to fail; `disarm` says how many did.
struct Failing {
  std::function<void(std::uint64_t n, bool and_later)> arm;
  std::function<std::uint64_t()> disarm;
};
inline Failing failing_new() { return {fail_new_at, stop_failing_new}; }
inline Failing failing_device(World& world) {
  FaultHeap& faults = world.heap->faults;
  return {[&faults](std::uint64_t n, bool and_later) { faults.fail_at(n, and_later); },
          [&faults] {
            const std::uint64_t failed = faults.faults();
            faults.fail_at(0);
            return failed;
          }};
}

// Runs `attempt` under each failure, and `afterwards(n, last)` once memory is there again. Running
// out is all that may come of it, and nothing stays behind. Returns how many failures there were.
template <typename Attempt, typename Afterwards>
std::uint64_t fail_in_turn(World& world, const Failing& failing, Attempt attempt,
                           Afterwards afterwards) {
  std::uint64_t points = 0;
  for (const bool and_later : {false, true}) {
    for (std::uint64_t n = 1;; ++n) {
      world.give_all_back();
      failing.arm(n, and_later);
      try {
        attempt();
      } catch (const std::bad_alloc&) {
      } catch (const OutOfMemory&) {
      }
      const bool failed = failing.disarm() != 0;
      EXPECT_NO_THROW(Context::audit()) << n;
      EXPECT_EQ(world.cpu->in_use(), 0u) << n;
      afterwards(n, !failed);
      if (!failed || testing::Test::HasFailure()) break;
      ++points;
    }
  }
  return points;
}

}  // namespace ebb::fault
