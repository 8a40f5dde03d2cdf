// Event recording, switched at run time. Off: one relaxed load on the paths that would record. On:
// each thread writes into a ring of its own, and anyone can take a snapshot of all rings.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "ebb/memory/event_ring.hpp"

namespace ebb::trace {

namespace detail {
extern std::atomic<bool> enabled;
// The calling thread's ring, made at its first event.
extern constinit thread_local EventRing* ring;
// Makes the ring; where there is no memory for one, the event is lost.
void record_first(std::uint64_t id, std::uint64_t bytes, std::uint64_t rest) noexcept;
}  // namespace detail

inline bool on() noexcept { return detail::enabled.load(std::memory_order_relaxed); }
void set(bool enabled) noexcept;

// Records whether tracing is on or not; callers ask on() first.
inline void record(const TraceEvent& event) noexcept {
  const std::uint64_t rest = EventRing::pack(event);
  EventRing* ring = detail::ring;
  if (ring == nullptr) [[unlikely]]
    return detail::record_first(event.id, event.bytes, rest);
  ring->push(event.id, event.bytes, rest);
}

// The events of all threads, those that have ended too, ordered by time.
std::vector<TraceEvent> snapshot();

// Forgets all events so far (they stay in the rings, but no snapshot shows them).
void clear() noexcept;

}  // namespace ebb::trace
