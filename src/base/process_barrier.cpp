#include "base/process_barrier.hpp"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ebb {

#if defined(__linux__)

namespace {

bool membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

// The expedited one interrupts the processors that run this process: microseconds. A process must
// have registered for it, once; whether a child of fork() has is the kernel's business.
bool process_barrier() noexcept {
  return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) ||
         (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
          membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED));
}

#else

bool process_barrier() noexcept { return false; }

#endif

}  // namespace ebb
