// WebAssembly has one linear memory that grows and never shrinks, one thread, and no protection of
// pages: a reserved range is backed from the start, and what is dropped stays.
#include <cstdlib>
#include <cstring>

#include "base/platform/platform.hpp"

namespace ebb::platform {

std::size_t page_bytes() noexcept { return 4 << 10; }

std::size_t physical_bytes() noexcept { return SIZE_MAX; }

std::byte* reserve_pages(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > SIZE_MAX - alignment) return nullptr;
  return static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
}

void release_pages(std::byte* base, std::size_t) noexcept { std::free(base); }

bool back_pages(std::byte*, std::size_t) noexcept { return true; }

// What is backed again reads as zeroes, as elsewhere.
void drop_pages(std::byte* base, std::size_t bytes) noexcept { std::memset(base, 0, bytes); }

bool empty_pages(void*, std::size_t) noexcept { return false; }

void prefer_huge_pages(std::byte*, std::size_t) noexcept {}

std::uint32_t thread_number() noexcept { return 1; }

}  // namespace ebb::platform
