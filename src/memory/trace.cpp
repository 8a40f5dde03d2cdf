#include "ebb/memory/trace.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>

namespace ebb {

void EventRing::read_clock() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  time_ = std::uint64_t(std::chrono::nanoseconds(time).count());
}

std::vector<TraceEvent> EventRing::snapshot(std::uint64_t since) const {
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  std::uint64_t first = std::max(since, head > kEvents ? head - kEvents : 0);
  if (first > head) first = head;
  std::vector<TraceEvent> events;
  events.reserve(head - first);
  for (std::uint64_t i = first; i < head; ++i) {
    std::array<std::uint64_t, 4> words;
    for (std::size_t w = 0; w < 4; ++w)
      words[w] = slots_[i % kEvents][w].load(std::memory_order_acquire);
    events.push_back(unpack(words));
  }
  const std::uint64_t later = head_.load(std::memory_order_relaxed);
  const std::uint64_t safe = later >= kEvents ? later - kEvents + 1 : 0;  // the rest may be torn
  if (safe > first)
    events.erase(events.begin(), events.begin() + std::ptrdiff_t(std::min<std::uint64_t>(
                                                      safe - first, events.size())));
  return events;
}

namespace trace {
namespace detail {
std::atomic<bool> enabled{false};
constinit thread_local EventRing* ring = nullptr;
}  // namespace detail

namespace {

// All rings there are. A ring outlives its thread, so that its events can still be read, and is
// then handed to the next thread that needs one: there are never more rings than there were threads
// at once.
struct Rings {
  struct Entry {
    std::unique_ptr<EventRing> ring;
    bool taken = false;
    std::uint64_t cleared_at = 0;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

Rings& rings() {
  static Rings& instance =
      *std::make_unique<Rings>().release();  // threads may end after statics do
  return instance;
}

// Hands the ring back at thread exit.
struct RingLease {
  ~RingLease() {
    const std::lock_guard lock(rings().mutex);
    for (Rings::Entry& entry : rings().entries)
      if (entry.ring.get() == detail::ring) entry.taken = false;
    detail::ring = nullptr;
    ended = true;
  }
  static constinit thread_local bool ended;
};
constinit thread_local bool RingLease::ended = false;

EventRing* take_ring() {
  const std::lock_guard lock(rings().mutex);
  for (Rings::Entry& entry : rings().entries) {
    if (entry.taken) continue;
    entry.taken = true;
    return entry.ring.get();
  }
  rings().entries.push_back({std::make_unique<EventRing>(), true, 0});
  return rings().entries.back().ring.get();
}

}  // namespace

void detail::record_first(std::uint64_t id, std::uint64_t bytes, std::uint64_t rest) noexcept {
  if (RingLease::ended) return;
  thread_local RingLease lease;
  try {
    ring = take_ring();
  } catch (const std::bad_alloc&) {
    return;
  }
  static_cast<void>(lease);
  ring->push(id, bytes, rest);
}

void set(bool enabled) noexcept { detail::enabled.store(enabled, std::memory_order_relaxed); }

std::vector<TraceEvent> snapshot() {
  const std::lock_guard lock(rings().mutex);
  std::vector<TraceEvent> all;
  for (const Rings::Entry& entry : rings().entries) {
    const std::vector<TraceEvent> events = entry.ring->snapshot(entry.cleared_at);
    all.insert(all.end(), events.begin(), events.end());
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.time < b.time; });
  return all;
}

void clear() noexcept {
  const std::lock_guard lock(rings().mutex);
  for (Rings::Entry& entry : rings().entries) entry.cleared_at = entry.ring->pushed();
}

}  // namespace trace
}  // namespace ebb
