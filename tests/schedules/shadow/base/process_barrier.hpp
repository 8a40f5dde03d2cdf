// In place of base/process_barrier.hpp. The quiet half keeps the compiler from moving accesses; in a
// schedule they are where they are written.
#pragma once

#include "schedules/scheduler.hpp"

namespace ebb {

inline void quiet_barrier() noexcept {}

inline void thread_barrier() noexcept {
  if (schedules::Schedule* const run = schedules::Schedule::current()) run->fence();
}

[[nodiscard]] inline bool process_barrier() noexcept {
  if (schedules::Schedule* const run = schedules::Schedule::current()) run->barrier();
  return true;
}

}  // namespace ebb
