#include "ebb/memory/simulated_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

#include "base/platform/platform.hpp"
#include "ebb/base/check.hpp"
#include "ebb/base/error.hpp"

namespace ebb {

SimulatedDevice::SimulatedDevice(SimulatedDeviceOptions options)
    : options_(options), random_(options.seed) {
  EBB_CHECK(std::has_single_bit(options.granule));
  streams_[kDefaultStream].exists = true;
  if (options_.threaded) thread_ = std::thread([this] { run(); });
}

SimulatedDevice::~SimulatedDevice() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  progress_.notify_all();
  thread_.join();
}

HeapTraits SimulatedDevice::traits() const noexcept {
  return {.name = "simulated",
          .alignment = options_.granule,
          .granule = options_.granule,
          .capacity = options_.capacity,
          .preferred_span = options_.preferred_span,
          .synchronous = options_.synchronous};
}

// Address space comes from the system without access, so that a host that touches device memory
// crashes, as it would on a real device.
std::byte* SimulatedDevice::reserve(std::size_t bytes) noexcept {
  return platform::reserve_pages(bytes, options_.granule);
}

void SimulatedDevice::unreserve(std::byte* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  auto it = committed_ranges_.lower_bound(base);
  while (it != committed_ranges_.end() && it->first < base + bytes) {
    committed_ -= it->second;
    it = committed_ranges_.erase(it);
  }
  platform::release_pages(base, bytes);
}

// Ranges are kept by the granule: simple, and enough to tell whether a byte is committed.
bool SimulatedDevice::commit(std::byte* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  EBB_CHECK(bytes > 0 && bytes % options_.granule == 0);
  EBB_CHECK(reinterpret_cast<std::uintptr_t>(base) % options_.granule == 0);
  if (commit_failures_ > 0) {
    --commit_failures_;
    return false;
  }
  if (bytes > options_.capacity - committed_) return false;
  if (options_.backed && !platform::back_pages(base, bytes)) return false;
  for (std::size_t at = 0; at < bytes; at += options_.granule)
    EBB_CHECK(committed_ranges_.emplace(base + at, options_.granule).second);
  committed_ += bytes;
  return true;
}

void SimulatedDevice::decommit(std::byte* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  for (std::size_t at = 0; at < bytes; at += options_.granule)
    EBB_CHECK(committed_ranges_.erase(base + at) == 1);
  committed_ -= bytes;
  if (options_.backed) platform::drop_pages(base, bytes);
  for (StreamId id = 0; id < kMaxStreams; ++id)
    for (const Work& work : streams_[id].queue)
      for (const Touch& touch : work.touches)
        if (touch.base < base + bytes && base < touch.base + touch.bytes)
          violations_.push_back(
              {{id, work.ticket}, {}, touch.base, "decommitted under unfinished work"});
}

StreamId SimulatedDevice::create_stream() {
  const std::lock_guard lock(mutex_);
  for (StreamId id = 1; id < kMaxStreams; ++id) {
    if (streams_[id].exists) continue;
    streams_[id].exists = true;
    return id;
  }
  raise(ErrorKind::kDevice, "[create_stream] all {} streams of heap 'simulated' are taken",
        kMaxStreams);
}

void SimulatedDevice::destroy_stream(StreamId stream) noexcept {
  EBB_CHECK(stream > 0 && stream < kMaxStreams);
  wait({stream, submitted(stream)});
  const std::lock_guard lock(mutex_);
  streams_[stream].exists = false;
}

Ticket SimulatedDevice::submitted(StreamId stream) const noexcept {
  const std::lock_guard lock(mutex_);
  return options_.synchronous ? 0 : streams_[stream].submitted;
}

std::optional<Event> SimulatedDevice::record(StreamId stream) noexcept {
  const std::lock_guard lock(mutex_);
  Stream& s = streams_[stream];
  if (s.recorded == s.submitted) return Event{stream, s.recorded};
  if (record_failures_ > 0) {
    --record_failures_;
    return std::nullopt;
  }
  ++records_;
  s.recorded = s.submitted;
  return Event{stream, s.recorded};
}

bool SimulatedDevice::done(Event event) noexcept {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < options_.steps_per_poll; ++i) tick();
  return event.ticket <= streams_[event.stream].recorded && finished(event);
}

void SimulatedDevice::wait(Event event) noexcept {
  std::unique_lock lock(mutex_);
  EBB_CHECK(event.ticket <= streams_[event.stream].submitted);
  if (options_.threaded) {
    progress_.wait(lock, [&] { return finished(event); });
  } else {
    while (!finished(event)) EBB_CHECK(tick());
  }
  Stream& s = streams_[event.stream];
  s.recorded = std::max(s.recorded, event.ticket);
}

void SimulatedDevice::order(StreamId stream, Event event) noexcept {
  const std::lock_guard lock(mutex_);
  Stream& s = streams_[stream];
  const Stream& other = streams_[event.stream];
  s.after[event.stream] = std::max(s.after[event.stream], event.ticket);
  for (const Work& work : other.queue) {
    if (work.ticket > event.ticket) break;
    for (StreamId id = 0; id < kMaxStreams; ++id)
      s.after[id] = std::max(s.after[id], work.after[id]);
  }
  Work work;
  work.waits_for = event;
  enqueue(stream, std::move(work));
}

Event SimulatedDevice::submit(StreamId stream, std::span<const Touch> touches,
                              std::uint32_t ticks) {
  const std::lock_guard lock(mutex_);
  EBB_CHECK(streams_[stream].exists);
  Work work;
  work.touches.assign(touches.begin(), touches.end());
  work.ticks_left = ticks != 0 ? ticks : 1 + std::uint32_t(random_() % options_.max_duration);
  detect(stream, work);
  enqueue(stream, std::move(work));
  return {stream, streams_[stream].submitted};
}

void SimulatedDevice::enqueue(StreamId stream, Work work) {
  Stream& s = streams_[stream];
  work.ticket = ++s.submitted;
  work.after = s.after;
  if (options_.synchronous) {
    s.finished = work.ticket;
    return;
  }
  s.queue.push_back(std::move(work));
  progress_.notify_all();
}

void SimulatedDevice::step(std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  while (ticks-- > 0 && tick()) {
  }
}

void SimulatedDevice::finish() {
  for (StreamId id = 0; id < kMaxStreams; ++id) {
    std::unique_lock lock(mutex_);
    const Event last{id, streams_[id].submitted};
    lock.unlock();
    wait(last);
  }
}

void SimulatedDevice::fail_commits(std::uint32_t n) noexcept {
  const std::lock_guard lock(mutex_);
  commit_failures_ = n;
}

void SimulatedDevice::fail_records(std::uint32_t n) noexcept {
  const std::lock_guard lock(mutex_);
  record_failures_ = n;
}

std::vector<SimulatedDevice::Violation> SimulatedDevice::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

std::size_t SimulatedDevice::committed() const noexcept {
  const std::lock_guard lock(mutex_);
  return committed_;
}

std::uint64_t SimulatedDevice::records() const noexcept {
  const std::lock_guard lock(mutex_);
  return records_;
}

bool SimulatedDevice::runnable(const Stream& stream) const {
  if (stream.queue.empty()) return false;
  const Work& head = stream.queue.front();
  return !head.waits_for || finished(*head.waits_for);
}

// One tick of device time; false when nothing can run.
bool SimulatedDevice::tick() {
  std::array<StreamId, kMaxStreams> ready;
  std::size_t count = 0;
  for (StreamId id = 0; id < kMaxStreams; ++id)
    if (runnable(streams_[id])) ready[count++] = id;
  if (count == 0) return false;
  Stream& s = streams_[ready[random_() % count]];
  Work& head = s.queue.front();
  if (--head.ticks_left > 0) return true;
  s.finished = head.ticket;
  s.queue.pop_front();
  progress_.notify_all();
  return true;
}

void SimulatedDevice::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (tick()) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    } else {
      progress_.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
}

}  // namespace ebb
