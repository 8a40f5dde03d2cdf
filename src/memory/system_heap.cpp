#include "ebb/memory/system_heap.hpp"

#include <bit>

#include "base/platform/platform.hpp"
#include "ebb/base/check.hpp"
#include "ebb/base/error.hpp"

namespace ebb {
SystemHeap::SystemHeap(SystemHeapOptions options) : huge_pages_(options.huge_pages) {
  EBB_CHECK(std::has_single_bit(options.granule));
  EBB_CHECK(options.granule >= platform::page_bytes());
  traits_ = {.name = "system",
             .alignment = options.granule,
             .granule = options.granule,
             .capacity = platform::physical_bytes(),
             .preferred_span = options.preferred_span,
             .synchronous = true};
}

std::byte* SystemHeap::reserve(std::size_t bytes) noexcept {
  std::byte* base = platform::reserve_pages(bytes, traits_.alignment);
  if (base != nullptr && huge_pages_) platform::prefer_huge_pages(base, bytes);
  return base;
}

void SystemHeap::unreserve(std::byte* base, std::size_t bytes) noexcept {
  platform::release_pages(base, bytes);
}

bool SystemHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  return platform::back_pages(base, bytes);
}

void SystemHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  platform::drop_pages(base, bytes);
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
