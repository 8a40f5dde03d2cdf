#include "memory/pool/stream_order.hpp"

#include <algorithm>

namespace ebb::detail {

Ticket StreamOrder::position(StreamId stream) noexcept {
  if (synchronous_) return 0;
  State& state = states_[stream];
  const Ticket ticket = heap_.submitted(stream);
  if (ticket > state.done) state.awaited = std::max(state.awaited, ticket);
  return ticket;
}

void StreamOrder::poll() noexcept {
  if (synchronous_) return;
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (states_[stream].awaited > states_[stream].done) poll(stream);
}

void StreamOrder::poll(StreamId stream) noexcept {
  State& state = states_[stream];
  if (state.outstanding && !poll_outstanding(state)) return;
  if (state.awaited <= state.done) return;
  state.outstanding = heap_.record(stream);  // refused: another time
  if (state.outstanding) poll_outstanding(state);
}

bool StreamOrder::poll_outstanding(State& state) noexcept {
  if (!heap_.done(*state.outstanding)) return false;
  state.done = std::max(state.done, state.outstanding->ticket);
  state.outstanding.reset();
  return true;
}

std::array<Ticket, kMaxStreams> StreamOrder::awaited() const noexcept {
  std::array<Ticket, kMaxStreams> tickets{};
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (states_[stream].awaited > states_[stream].done) tickets[stream] = states_[stream].awaited;
  return tickets;
}

void StreamOrder::mark_reached(StreamId stream, Ticket ticket) noexcept {
  State& state = states_[stream];
  state.done = std::max(state.done, ticket);
  if (state.outstanding && state.outstanding->ticket <= state.done) state.outstanding.reset();
}

}  // namespace ebb::detail
