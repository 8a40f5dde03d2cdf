#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/platform/platform.hpp"
#include "ebb/base/check.hpp"

namespace ebb::platform {

std::size_t page_bytes() noexcept { return std::size_t(::sysconf(_SC_PAGESIZE)); }

std::size_t physical_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::size_t(pages) * std::size_t(page) : SIZE_MAX;
}

// Maps more than asked for and unmaps what sticks out on both sides of the aligned part. Memory is
// accounted when access is granted, not here.
std::byte* reserve_pages(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > SIZE_MAX - alignment) return nullptr;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  void* mapped = ::mmap(nullptr, bytes + alignment, PROT_NONE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
  const std::size_t before = aligned - start;
  const std::size_t after = alignment - before;
  if (before != 0) ::munmap(mapped, before);
  if (after != 0) ::munmap(reinterpret_cast<void*>(aligned + bytes), after);
  return reinterpret_cast<std::byte*>(aligned);
}

void release_pages(std::byte* base, std::size_t bytes) noexcept {
  EBB_CHECK(::munmap(base, bytes) == 0);
}

bool back_pages(std::byte* base, std::size_t bytes) noexcept {
  return ::mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0;
}

// The pages go first: should the system have no room to split the mapping for the new protection,
// the memory has been given back all the same, and only the guard against stray access is missing.
void drop_pages(std::byte* base, std::size_t bytes) noexcept {
  ::madvise(base, bytes, MADV_DONTNEED);
  ::mprotect(base, bytes, PROT_NONE);
}

bool empty_pages(void* base, std::size_t bytes) noexcept {
  return ::madvise(base, bytes, MADV_DONTNEED) == 0;
}

void prefer_huge_pages(std::byte* base, std::size_t bytes) noexcept {
  ::madvise(base, bytes, MADV_HUGEPAGE);
}

std::uint32_t thread_number() noexcept { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

}  // namespace ebb::platform
