// Event recording, switched at run time. Off: one relaxed load on the paths that would record. On:
// each thread writes into a ring of its own, and anyone can take a snapshot of all rings.
//
// Two may want events: tracing (everything, the last of it for error messages and snapshots) and a
// recording (what the ledger books and what devices commit), which reads the rings as they fill.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "ebb/memory/trace_event.hpp"

namespace ebb {

class EventRing;

namespace trace {

namespace detail {
enum Want : std::uint8_t { kTracing = 1, kRecording = 2 };
extern std::atomic<std::uint8_t> wanted;
}  // namespace detail

// Somebody wants the ledger's events.
inline bool on() noexcept { return detail::wanted.load(std::memory_order_relaxed) != 0; }
// The pool's, too.
inline bool blocks_on() noexcept {
  return (detail::wanted.load(std::memory_order_relaxed) & detail::kTracing) != 0;
}
void set(bool tracing) noexcept;
void set_recording(bool recording) noexcept;

// The events of all threads, those that have ended too, ordered by time.
std::vector<TraceEvent> snapshot();
// Those of one name: nothing else is copied.
std::vector<TraceEvent> snapshot_of(std::uint64_t id);

// Reads all rings from where it was last time: one reader's place in them.
class Tail {
 public:
  // At the end of every ring: what comes from now on.
  Tail();

  // Calls `use(thread, events)` for each ring that has new events, oldest first; `thread` is the
  // system's number of the thread that writes it now. Returns how many were lost.
  template <typename Use>
  std::uint64_t read(Use&& use) {
    std::uint64_t lost = newly_unrecorded();
    find_rings();
    for (Place& place : places_) {
      read_ring(place, lost);
      if (!events_.empty()) use(place.thread, events_);
    }
    return lost;
  }

 private:
  struct Place {
    const EventRing* ring;
    std::uint32_t thread;
    std::uint64_t next;
  };
  void find_rings();
  void read_ring(Place& place, std::uint64_t& lost);
  std::uint64_t newly_unrecorded() noexcept;

  std::vector<Place> places_;
  std::vector<TraceEvent> events_;
  std::uint64_t unrecorded_ = 0;
};

// Forgets all events so far (they stay in the rings, but no snapshot shows them).
void clear() noexcept;

}  // namespace trace
}  // namespace ebb
