// In place of base/wait_lock.hpp: a waiter neither spins nor sleeps, the scheduler knows what it
// waits for.
#pragma once

#include "schedules/scheduled_atomic.hpp"

namespace ebb {

class WaitLock : public schedules::Lock {
 public:
  void let_others_in() {
    unlock();
    lock();
  }
};

}  // namespace ebb
