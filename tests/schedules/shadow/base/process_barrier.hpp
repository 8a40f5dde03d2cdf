// In place of base/process_barrier.hpp. Interleavings are those of sequential consistency, so there
// is nothing to order: that the barrier is needed is not what the schedules show.
#pragma once

#include "schedules/scheduler.hpp"

namespace ebb {

inline void quiet_barrier() noexcept {}

[[nodiscard]] inline bool process_barrier() noexcept {
  if (schedules::Schedule* const run = schedules::Schedule::current()) run->step();
  return true;
}

}  // namespace ebb
