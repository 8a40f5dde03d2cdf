// What the compiler calls for each use of memory in code that it instruments for ThreadSanitizer: the
// core under the scheduler, and its tests. That library is not linked; the schedule's clocks know
// better who comes after whom. An atomic's own uses come here as well, always relaxed; those of the
// standard library pass on what they say they do.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#include "schedules/scheduler.hpp"

namespace {

using ebb::schedules::Schedule;

void used(const void* at, std::size_t bytes, bool writes, const void* code) {
  if (Schedule* const run = Schedule::current()) run->used(at, bytes, writes, false, code);
}

// Of the standard library's atomics: each passes on what was before it.
void used_atomically(const void* at, std::size_t bytes, bool writes, int order, const void* code) {
  Schedule* const run = Schedule::current();
  if (run == nullptr || !run->is_under_way()) return;
  run->used(at, bytes, writes, true, code);
  if (order == __ATOMIC_RELAXED) return;
  run->takes(at);
  if (writes) run->gives_back(at);
}

// Memory is its maker's until he passes it on.
void* made(void* memory, std::size_t bytes, const void* code) {
  if (memory == nullptr) throw std::bad_alloc();
  used(memory, bytes, true, code);
  return memory;
}

// Whoever frees memory comes after all who used it.
void let_go(void* memory, const void* code) noexcept {
  Schedule* const run = Schedule::current();
  if (run != nullptr && memory != nullptr) {
    const std::size_t bytes = malloc_usable_size(memory);
    run->used(memory, bytes, true, false, code);
    run->forget(memory, bytes);
  }
  std::free(memory);
}

}  // namespace

#define HERE __builtin_return_address(0)

void* operator new(std::size_t bytes) { return made(std::malloc(bytes), bytes, HERE); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto at = static_cast<std::size_t>(alignment);
  return made(std::aligned_alloc(at, (bytes + at - 1) / at * at), bytes, HERE);
}
void* operator new[](std::size_t bytes) { return made(std::malloc(bytes), bytes, HERE); }
void operator delete(void* memory) noexcept { let_go(memory, HERE); }
void operator delete(void* memory, std::size_t) noexcept { let_go(memory, HERE); }
void operator delete(void* memory, std::align_val_t) noexcept { let_go(memory, HERE); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { let_go(memory, HERE); }
void operator delete[](void* memory) noexcept { let_go(memory, HERE); }
void operator delete[](void* memory, std::size_t) noexcept { let_go(memory, HERE); }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void** at, void*) { used(at, sizeof(void*), true, HERE); }
void __tsan_vptr_read(void** at) { used(at, sizeof(void*), false, HERE); }
void __tsan_read_range(void* at, unsigned long bytes) { used(at, bytes, false, HERE); }
void __tsan_write_range(void* at, unsigned long bytes) { used(at, bytes, true, HERE); }
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

#define PLAIN(bytes)                                                            \
  void __tsan_read##bytes(void* at) { used(at, bytes, false, HERE); }           \
  void __tsan_write##bytes(void* at) { used(at, bytes, true, HERE); }           \
  void __tsan_unaligned_read##bytes(void* at) { used(at, bytes, false, HERE); } \
  void __tsan_unaligned_write##bytes(void* at) { used(at, bytes, true, HERE); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define CHANGE(bits, name)                                                              \
  std::uint##bits##_t __tsan_atomic##bits##_##name(std::uint##bits##_t* at,             \
                                                   std::uint##bits##_t by, int order) { \
    used_atomically(at, bits / 8, true, order, HERE);                                   \
    return __atomic_##name(at, by, __ATOMIC_RELAXED);                                   \
  }
#define ATOMIC(bits)                                                                         \
  std::uint##bits##_t __tsan_atomic##bits##_load(const std::uint##bits##_t* at, int order) { \
    used_atomically(at, bits / 8, false, order, HERE);                                       \
    return __atomic_load_n(at, __ATOMIC_RELAXED);                                            \
  }                                                                                          \
  void __tsan_atomic##bits##_store(std::uint##bits##_t* at, std::uint##bits##_t value,       \
                                   int order) {                                              \
    used_atomically(at, bits / 8, true, order, HERE);                                        \
    __atomic_store_n(at, value, __ATOMIC_RELAXED);                                           \
  }                                                                                          \
  CHANGE(bits, fetch_add)                                                                    \
  CHANGE(bits, fetch_sub)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

}  // extern "C"
