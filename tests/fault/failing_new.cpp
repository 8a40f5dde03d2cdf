#include "fault/failing_new.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

struct Plan {
  bool armed = false;
  bool and_later = false;
  std::uint64_t fails_at = 0;
  std::uint64_t calls = 0;
  std::uint64_t faults = 0;
};
constinit thread_local Plan plan;
std::atomic<std::int64_t> alive{0};

bool fails() noexcept {
  if (!plan.armed) return false;
  ++plan.calls;
  const bool now = plan.and_later ? plan.calls >= plan.fails_at : plan.calls == plan.fails_at;
  plan.faults += now ? 1 : 0;
  return now;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* memory = nullptr;
  if (!fails() && posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) == 0) {
    alive.fetch_add(1, std::memory_order_relaxed);
    return memory;
  }
  throw std::bad_alloc();
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  alive.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, kPlain); }
void* operator new[](std::size_t bytes) { return allocate(bytes, kPlain); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace ebb::fault {

void fail_new_at(std::uint64_t n, bool and_later) noexcept {
  plan = {.armed = true, .and_later = and_later, .fails_at = n};
}
std::uint64_t stop_failing_new() noexcept {
  plan.armed = false;
  return plan.faults;
}
Spared::Spared() noexcept : armed_(plan.armed) { plan.armed = false; }
Spared::~Spared() { plan.armed = armed_; }

std::int64_t outstanding() noexcept { return alive.load(std::memory_order_relaxed); }

}  // namespace ebb::fault
