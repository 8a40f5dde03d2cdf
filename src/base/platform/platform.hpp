// What the core asks of the system it runs on, behind a handful of functions. One file of this folder
// implements them, and CMake chooses which: posix.cpp, or wasm.cpp where the core is WebAssembly.
//
//   pages    address ranges are reserved without access; parts of them are backed with memory, and
//            dropped again
//   threads  a number for the thread that runs
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::platform {

std::size_t page_bytes() noexcept;
// Of the machine; SIZE_MAX where the system does not say, or has more than can be addressed.
std::size_t physical_bytes() noexcept;

// Pre: `bytes` and `alignment` are multiples of a page, `alignment` is a power of two. Null: there is
// no such range.
std::byte* reserve_pages(std::size_t bytes, std::size_t alignment) noexcept;
// Pre: exactly what reserve_pages gave.
void release_pages(std::byte* base, std::size_t bytes) noexcept;
// False: there is no memory for it, and nothing has changed.
bool back_pages(std::byte* base, std::size_t bytes) noexcept;
// The memory goes back; the range stays reserved.
void drop_pages(std::byte* base, std::size_t bytes) noexcept;
// The memory of pages that are in use goes back, and they read as zeros from then on. False: the
// system cannot, and they are as they were.
bool empty_pages(void* base, std::size_t bytes) noexcept;
// One fault in place of 512, where the system has such pages.
void prefer_huge_pages(std::byte* base, std::size_t bytes) noexcept;

std::uint32_t thread_number() noexcept;

}  // namespace ebb::platform
