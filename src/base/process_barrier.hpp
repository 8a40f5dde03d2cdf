// A memory barrier on every thread of the process at once, for protocols in which one side runs all
// the time and must cost nothing, and the other runs seldom.
//
//   often:   x.store(1, relaxed); quiet_barrier(); if (y.load(relaxed)) ...
//   seldom:  y.store(1, relaxed); process_barrier(); if (x.load(relaxed)) ...
//
// At least one of the two sees the other's store, as if both had a full barrier in the middle.
#pragma once

#include <atomic>

namespace ebb {

// Keeps the compiler from moving memory accesses across it. No instruction.
inline void quiet_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

// A full barrier on the calling thread. The other side is an exchange and a load, both seq_cst.
inline void thread_barrier() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"  // which does not know it, and needs it for nothing here
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

// False: the system has no such barrier, and nothing may be concluded.
[[nodiscard]] bool process_barrier() noexcept;

}  // namespace ebb
