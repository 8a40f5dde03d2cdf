// ebb::atomic is std::atomic. The protocols that tests/schedules explores use it by this name: there
// it stops at each operation, so that a scheduler decides who goes on.
#pragma once

#if defined(EBB_ATOMIC_HEADER)
#include EBB_ATOMIC_HEADER
#else
#include <atomic>

namespace ebb {

template <typename T>
using atomic = std::atomic<T>;

}  // namespace ebb
#endif
