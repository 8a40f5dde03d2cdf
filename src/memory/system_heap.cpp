#include "ebb/memory/system_heap.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>

#include "ebb/base/check.hpp"
#include "ebb/base/error.hpp"

namespace ebb {
namespace {

std::size_t physical_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::size_t(pages) * std::size_t(page) : SIZE_MAX;
}

// Maps more than asked for and unmaps what sticks out on both sides of the aligned part.
std::byte* map_aligned(std::size_t bytes, std::size_t alignment) noexcept {
  if (bytes > SIZE_MAX - alignment) return nullptr;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;  // accounted when access is granted, not here
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

}  // namespace

SystemHeap::SystemHeap(SystemHeapOptions options) : huge_pages_(options.huge_pages) {
  EBB_CHECK(std::has_single_bit(options.granule));
  EBB_CHECK(options.granule >= std::size_t(::sysconf(_SC_PAGESIZE)));
  traits_ = {.name = "system",
             .alignment = options.granule,
             .granule = options.granule,
             .capacity = physical_bytes(),
             .preferred_span = options.preferred_span,
             .synchronous = true};
}

std::byte* SystemHeap::reserve(std::size_t bytes) noexcept {
  std::byte* base = map_aligned(bytes, traits_.alignment);
  if (base != nullptr && huge_pages_) ::madvise(base, bytes, MADV_HUGEPAGE);
  return base;
}

void SystemHeap::unreserve(std::byte* base, std::size_t bytes) noexcept {
  EBB_CHECK(::munmap(base, bytes) == 0);
}

bool SystemHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  return ::mprotect(base, bytes, PROT_READ | PROT_WRITE) == 0;
}

// The pages go first: should the system have no room to split the mapping for the new protection,
// the memory has been given back all the same, and only the guard against stray access is missing.
void SystemHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  ::madvise(base, bytes, MADV_DONTNEED);
  ::mprotect(base, bytes, PROT_NONE);
}

StreamId SystemHeap::create_stream() {
  std::uint64_t streams = streams_.load(std::memory_order_relaxed);
  while (streams != ~std::uint64_t{0}) {
    const int id = std::countr_one(streams);
    if (streams_.compare_exchange_weak(streams, streams | std::uint64_t{1} << id))
      return StreamId(id);
  }
  raise(ErrorKind::kDevice, "[create_stream] all {} streams of heap 'system' are taken",
        kMaxStreams);
}

void SystemHeap::destroy_stream(StreamId stream) noexcept {
  EBB_CHECK(stream > 0 && stream < kMaxStreams);
  streams_.fetch_and(~(std::uint64_t{1} << stream));
}

}  // namespace ebb
