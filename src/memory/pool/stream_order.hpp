// StreamOrder: how far each stream has come, as far as the pool knows.
//
// Protocol. A free remembers no event, only its stream's position (the ticket of the last work
// queued). A stream has reached a position when an event recorded at or after it is done. Events
// are recorded only when somebody wants to know (settle), one for each stream with something
// pending, and no second one before the first is done. Runs under the pool's lock, except wait().
#pragma once

#include <array>
#include <optional>

#include "ebb/memory/heap.hpp"

namespace ebb::detail {

class StreamOrder {
 public:
  explicit StreamOrder(Heap& heap) : heap_(heap), synchronous_(heap.traits().synchronous) {}

  bool synchronous() const noexcept { return synchronous_; }

  // The stream's position now; from here on somebody waits for it unless it is reached already.
  Ticket position(StreamId stream) noexcept;

  bool reached(StreamId stream, Ticket ticket) const noexcept {
    return ticket <= states_[stream].done;
  }
  Ticket done(StreamId stream) const noexcept { return states_[stream].done; }

  // Asks the device about the streams somebody waits for.
  void poll() noexcept;

  // What must be waited for, per stream; nothing where all is reached.
  std::array<Ticket, kMaxStreams> awaited() const noexcept;
  void mark_reached(StreamId stream, Ticket ticket) noexcept;

 private:
  struct State {
    Ticket done = 0;
    Ticket awaited = 0;
    std::optional<Event> outstanding;
  };
  void poll(StreamId stream) noexcept;
  bool poll_outstanding(State& state) noexcept;

  Heap& heap_;
  const bool synchronous_;
  std::array<State, kMaxStreams> states_{};
};

}  // namespace ebb::detail
