#include "ebb/base/spin_lock.hpp"

#include "base/backoff.hpp"

namespace ebb {

void SpinLock::lock_contended() noexcept {
  for (Backoff backoff; !try_lock();) {
    if (backoff.spin()) continue;
    const unsigned others = asleep_.fetch_add(1, std::memory_order_relaxed);
    backoff.nap(others);
    asleep_.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace ebb
