#include "fault/failing_new.hpp"

#ifdef __linux__
#include <link.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
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

// oneDNN does not take a failure of its own small allocations: it ends the process. They are not
// Ebb's to fail.
struct Library {
  std::uintptr_t from = 0, to = 0;
};
thread_local Library onednn;  // loaded at its first use

#ifdef __linux__
#define EBB_CALLER __builtin_return_address(0)
int find_onednn(dl_phdr_info* info, std::size_t, void* found) noexcept {
  if (std::strstr(info->dlpi_name, "libdnnl") == nullptr) return 0;
  Library& library = *static_cast<Library*>(found);
  library.from = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const std::uintptr_t end =
        info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > library.to) library.to = end;
  }
  return 1;
}
void find_libraries() noexcept {
  if (onednn.to == 0) dl_iterate_phdr(find_onednn, &onednn);
}
#else
#define EBB_CALLER nullptr
void find_libraries() noexcept {}  // there is none
#endif

bool fails(const void* caller) noexcept {
  if (!plan.armed) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (at >= onednn.from && at < onednn.to) return false;
  ++plan.calls;
  const bool now = plan.and_later ? plan.calls >= plan.fails_at : plan.calls == plan.fails_at;
  plan.faults += now ? 1 : 0;
  return now;
}

void* allocate_or_null(std::size_t bytes, std::size_t alignment, const void* caller) noexcept {
  void* memory = nullptr;
  if (fails(caller) || posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0)
    return nullptr;
  alive.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* allocate(std::size_t bytes, std::size_t alignment, const void* caller) {
  void* memory = allocate_or_null(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  alive.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, kPlain, EBB_CALLER); }
void* operator new[](std::size_t bytes) { return allocate(bytes, kPlain, EBB_CALLER); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment), EBB_CALLER);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment), EBB_CALLER);
}
// The library's own nothrow forms call the throwing ones, but a sanitizer replaces them too.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, kPlain, EBB_CALLER);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate_or_null(bytes, kPlain, EBB_CALLER);
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
  find_libraries();
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
