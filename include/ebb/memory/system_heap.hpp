// Host memory behind the heap seam: reserved without access, committed by granting access, and
// decommitted by giving the pages back to the system.
#pragma once

#include <atomic>

#include "ebb/memory/heap.hpp"

namespace ebb {

struct SystemHeapOptions {
  std::size_t granule = std::size_t{2} << 20;  // a power of two, at least a page
  std::size_t preferred_span = kAmpleSpan;
  // Ask for huge pages: one fault in place of 512. Only sensible with granules of 2 MB and more.
  bool huge_pages = true;
};

class SystemHeap final : public Heap {
 public:
  explicit SystemHeap(SystemHeapOptions options = {});

  HeapTraits traits() const noexcept override { return traits_; }
  std::byte* reserve(std::size_t bytes) noexcept override;
  void unreserve(std::byte* base, std::size_t bytes) noexcept override;
  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  void decommit(std::byte* base, std::size_t bytes) noexcept override;

  // Work on the host is done when the call returns, so streams are only names here.
  StreamId create_stream() override;
  void destroy_stream(StreamId stream) noexcept override;
  Ticket submitted(StreamId) const noexcept override { return 0; }
  std::optional<Event> record(StreamId stream) noexcept override { return Event{stream, 0}; }
  bool done(Event) noexcept override { return true; }
  void wait(Event) noexcept override {}
  void order(StreamId, Event) noexcept override {}

 private:
  HeapTraits traits_;
  bool huge_pages_;
  std::atomic<std::uint64_t> streams_{1};  // bit i: stream i exists
};

}  // namespace ebb
