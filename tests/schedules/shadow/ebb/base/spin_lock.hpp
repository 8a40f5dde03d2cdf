// In place of ebb/base/spin_lock.hpp: a waiter does not spin, the scheduler knows what it waits for.
#pragma once

#include "schedules/scheduled_atomic.hpp"

namespace ebb {

class SpinLock : public schedules::Lock {
 public:
  void forget_waiters() noexcept {}
};

}  // namespace ebb
