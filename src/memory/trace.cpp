#include "ebb/memory/trace.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "base/fork.hpp"
#include "base/platform/platform.hpp"
#include "memory/event_ring.hpp"

namespace ebb {

void EventRing::read_clock() noexcept {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  time_ = std::uint64_t(std::chrono::nanoseconds(time).count());
  stale_.store(false, std::memory_order_relaxed);
}

std::vector<TraceEvent> EventRing::snapshot(std::uint64_t since) const {
  std::vector<TraceEvent> events;
  std::uint64_t lost = 0;
  read(since, events, lost);
  return events;
}

std::uint64_t EventRing::first_of(std::uint64_t since, std::uint64_t head) noexcept {
  return std::min(std::max(since, head > kEvents ? head - kEvents : 0), std::max(head, since));
}

TraceEvent EventRing::event(std::uint64_t count) const noexcept {
  std::array<std::uint64_t, kWords> words;
  for (std::size_t w = 0; w < kWords; ++w)
    words[w] = slots_[count % kEvents][w].load(std::memory_order_acquire);
  return unpack(words);
}

void EventRing::read_of(std::uint64_t id, std::uint64_t since,
                        std::vector<TraceEvent>& events) const {
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  for (std::uint64_t i = first_of(since, head); i < head; ++i) {
    if (slots_[i % kEvents][0].load(std::memory_order_acquire) != id) continue;
    const TraceEvent found = event(i);
    // Overwritten meanwhile: it may be torn.
    if (i + kEvents > head_.load(std::memory_order_relaxed)) events.push_back(found);
  }
}

std::uint64_t EventRing::read(std::uint64_t since, std::vector<TraceEvent>& events,
                              std::uint64_t& lost) const {
  const std::uint64_t head = head_.load(std::memory_order_acquire);
  stale_.store(true, std::memory_order_relaxed);
  const std::uint64_t first = first_of(since, head);
  const std::size_t start = events.size();
  for (std::uint64_t i = first; i < head; ++i) events.push_back(event(i));
  const std::uint64_t later = head_.load(std::memory_order_relaxed);
  const std::uint64_t safe = later >= kEvents ? later - kEvents + 1 : 0;  // the rest may be torn
  const std::uint64_t torn =
      safe > first ? std::min<std::uint64_t>(safe - first, events.size() - start) : 0;
  const auto begin = events.begin() + std::ptrdiff_t(start);
  events.erase(begin, begin + std::ptrdiff_t(torn));
  if (since < head) lost += first - since + torn;
  return std::max(head, since);
}

namespace trace {
namespace detail {
std::atomic<std::uint8_t> wanted{0};
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
    std::uint32_t thread = 0;
    std::uint64_t cleared_at = 0;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
  std::atomic<std::uint64_t> unrecorded{0};  // events of threads that have no ring
};

Rings& rings() {
  static Rings& instance = []() -> Rings& {
    static constinit ForkHook hook{ForkRank::kTables, []() noexcept { rings().mutex.lock(); },
                                   []() noexcept { rings().mutex.unlock(); },
                                   []() noexcept { rings().mutex.unlock(); }};
    at_fork(hook);
    return *std::make_unique<Rings>().release();  // threads may end after statics do
  }();
  return instance;
}
[[maybe_unused]] const Rings& g_made_at_load = rings();

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
  const auto thread = platform::thread_number();
  const std::lock_guard lock(rings().mutex);
  for (Rings::Entry& entry : rings().entries) {
    if (entry.taken) continue;
    entry.taken = true;
    entry.thread = thread;
    return entry.ring.get();
  }
  rings().entries.push_back({std::make_unique<EventRing>(), true, thread, 0});
  return rings().entries.back().ring.get();
}

}  // namespace

void detail::record_first(const TraceEvent& event) noexcept {
  const auto lose = [] { rings().unrecorded.fetch_add(1, std::memory_order_relaxed); };
  if (RingLease::ended) return lose();
  thread_local RingLease lease;
  try {
    ring = take_ring();
  } catch (const std::bad_alloc&) {
    return lose();
  }
  static_cast<void>(lease);
  ring->push(event);
}

namespace {

void want(std::uint8_t what, bool on) noexcept {
  if (on) {
    detail::wanted.fetch_or(what, std::memory_order_relaxed);
  } else {
    detail::wanted.fetch_and(static_cast<std::uint8_t>(~what), std::memory_order_relaxed);
  }
}

}  // namespace

void set(bool tracing) noexcept { want(detail::kTracing, tracing); }
void set_recording(bool recording) noexcept { want(detail::kRecording, recording); }

Tail::Tail() {
  find_rings();
  for (Place& place : places_) place.next = place.ring->pushed();
  newly_unrecorded();
}

void Tail::find_rings() {
  const std::lock_guard lock(rings().mutex);
  const auto& entries = rings().entries;  // rings are never destroyed, and keep their order
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i == places_.size()) places_.push_back({entries[i].ring.get(), 0, 0});
    places_[i].thread = entries[i].thread;
  }
}

void Tail::read_ring(Place& place, std::uint64_t& lost) {
  events_.clear();
  place.next = place.ring->read(place.next, events_, lost);
}

std::uint64_t Tail::newly_unrecorded() noexcept {
  const std::uint64_t now = rings().unrecorded.load(std::memory_order_relaxed);
  return now - std::exchange(unrecorded_, now);
}

namespace {

void order(std::vector<TraceEvent>& events) {
  std::stable_sort(events.begin(), events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.time < b.time; });
}

}  // namespace

std::vector<TraceEvent> snapshot_of(std::uint64_t id) {
  const std::lock_guard lock(rings().mutex);
  std::vector<TraceEvent> found;
  for (const Rings::Entry& entry : rings().entries) {
    entry.ring->read_of(id, entry.cleared_at, found);
  }
  order(found);
  return found;
}

std::vector<TraceEvent> snapshot() {
  const std::lock_guard lock(rings().mutex);
  std::vector<TraceEvent> all;
  for (const Rings::Entry& entry : rings().entries) {
    const std::vector<TraceEvent> events = entry.ring->snapshot(entry.cleared_at);
    all.insert(all.end(), events.begin(), events.end());
  }
  order(all);
  return all;
}

void clear() noexcept {
  const std::lock_guard lock(rings().mutex);
  for (Rings::Entry& entry : rings().entries) entry.cleared_at = entry.ring->pushed();
}

}  // namespace trace
}  // namespace ebb
