// SimulatedDevice: a device whose streams run behind the caller, on any machine. It stands in for a
// GPU where stream order, exhaustion and waiting are tested, and it is the detector too: work
// declares the ranges it touches, and work queued on one stream while unfinished, unordered work of
// another stream touches the same bytes (one of them writing) is a violation.
//
//   SimulatedDevice device({.capacity = 64 << 20, .seed = 7});
//   device.submit(stream, {{block.data, 4096, SimulatedDevice::Access::kWrite}});
//   device.step(10);                       // ten ticks of device time
//   EXPECT_EQ(device.violations().size(), 0u);
//
// Device time passes only where something moves it: step(), wait(), a poll (by `steps_per_poll`),
// or the thread of `threaded` mode. Given the same seed and calls, stepping is deterministic.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ebb/memory/heap.hpp"

namespace ebb {

struct SimulatedDeviceOptions {
  std::size_t capacity = std::size_t{256} << 20;
  std::size_t granule = std::size_t{64} << 10;
  std::size_t preferred_span = std::min(kAmpleSpan, std::size_t{1} << 30);
  std::uint64_t seed = 1;
  std::uint32_t max_duration = 4;    // ticks of one piece of work, 1..max
  std::uint32_t steps_per_poll = 0;  // ticks that pass with each done()
  bool synchronous = false;          // all work is finished when submitted
  bool backed = false;               // committed memory can be read and written by the host
  bool threaded = false;             // a thread moves device time
};

class SimulatedDevice final : public Heap {
 public:
  enum class Access { kRead, kWrite };
  struct Touch {
    const std::byte* base = nullptr;
    std::size_t bytes = 0;
    Access access = Access::kWrite;
  };
  struct Violation {
    Event earlier;
    Event later;
    const std::byte* base;  // first byte both touch
    std::string what;
  };

  explicit SimulatedDevice(SimulatedDeviceOptions options = {});
  ~SimulatedDevice() override;

  HeapTraits traits() const noexcept override;
  std::byte* reserve(std::size_t bytes) noexcept override;
  void unreserve(std::byte* base, std::size_t bytes) noexcept override;
  bool commit(std::byte* base, std::size_t bytes) noexcept override;
  void decommit(std::byte* base, std::size_t bytes) noexcept override;
  StreamId create_stream() override;
  void destroy_stream(StreamId stream) noexcept override;
  Ticket submitted(StreamId stream) const noexcept override;
  std::optional<Event> record(StreamId stream) noexcept override;
  bool done(Event event) noexcept override;
  void wait(Event event) noexcept override;
  void order(StreamId stream, Event event) noexcept override;

  // Queues work. Work on memory that is not committed is a violation too.
  Event submit(StreamId stream, std::span<const Touch> touches, std::uint32_t ticks = 0);
  Event submit(StreamId stream, std::initializer_list<Touch> touches, std::uint32_t ticks = 0) {
    return submit(stream, std::span(touches.begin(), touches.size()), ticks);
  }

  // Lets device time pass: each tick goes to a stream chosen by the seed among those that can run.
  void step(std::uint64_t ticks = 1);
  // Until nothing is queued.
  void finish();

  // The next `n` calls of commit / record fail.
  void fail_commits(std::uint32_t n) noexcept;
  void fail_records(std::uint32_t n) noexcept;

  std::vector<Violation> violations() const;
  std::size_t committed() const noexcept;
  std::uint64_t records() const noexcept;  // record() calls that reached the device

 private:
  using Clock =
      std::array<Ticket, kMaxStreams>;  // per stream: the ticket that is known to come before
  struct Work {
    Ticket ticket = 0;
    std::uint32_t ticks_left = 1;
    std::optional<Event> waits_for;
    std::vector<Touch> touches;
    Clock after{};
  };
  struct Stream {
    bool exists = false;
    Ticket submitted = 0;
    Ticket finished = 0;
    Ticket recorded = 0;
    Clock after{};
    std::deque<Work> queue;
  };

  void enqueue(StreamId stream, Work work);
  void detect(StreamId stream, const Work& work);
  void detect_uncommitted(StreamId stream, const Work& work);
  void detect_conflict(StreamId stream, const Work& work, StreamId other, const Work& earlier);
  bool covered(const Touch& touch) const;
  bool finished(Event event) const { return streams_[event.stream].finished >= event.ticket; }
  bool runnable(const Stream& stream) const;
  bool tick();
  void run();

  const SimulatedDeviceOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable progress_;
  std::mt19937_64 random_;
  std::array<Stream, kMaxStreams> streams_;
  std::map<const std::byte*, std::size_t> committed_ranges_;
  std::size_t committed_ = 0;
  std::uint32_t commit_failures_ = 0;
  std::uint32_t record_failures_ = 0;
  std::uint64_t records_ = 0;
  std::vector<Violation> violations_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace ebb
