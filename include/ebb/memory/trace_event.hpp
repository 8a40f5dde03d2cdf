// What is told of each thing that happens to memory.
#pragma once

#include <cstdint>

namespace ebb {

// What happened; the values above kUser are for the layers that share the ring.
enum class EventKind : std::uint8_t {
  kNone = 0,
  kAllocate = 1,  // pool: id = address, detail = stream
  kFree = 2,      // pool: id = address, detail = stream
  kCommit = 3,    // a device's heap: id = address
  kDecommit = 4,  // the same, given back
  kUser = 16,
};

struct TraceEvent {
  std::uint64_t id = 0;  // address or handle
  std::uint64_t bytes = 0;
  std::uint64_t storage = 0;  // the block's address, or what else names the storage while it lives
  std::uint32_t site = 0;     // interned stack, 0 = unknown
  EventKind kind = EventKind::kNone;
  std::uint8_t detail = 0;  // reason, dtype or stream
  std::uint8_t device = 0;  // index; 0: none
  std::uint8_t flags = 0;   // by kind
  // ns of the steady clock, coarse: read every kTimeEvery events and after each look of a reader
  std::uint64_t time = 0;
  friend bool operator==(const TraceEvent&, const TraceEvent&) = default;
};
static_assert(sizeof(TraceEvent) == 40);

}  // namespace ebb
