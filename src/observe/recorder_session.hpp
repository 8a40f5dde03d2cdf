// What belongs to one recording: its thread, which reads the rings, writes and answers viewers.
// Others ask, under the lock, for a turn of it.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "memory/event_ring.hpp"
#include "observe/live_server.hpp"
#include "observe/process_counters.hpp"
#include "observe/recorder.hpp"
#include "observe/sampler.hpp"

namespace ebb::observe {
namespace session {

inline constexpr auto kTurn = std::chrono::milliseconds(5);
inline constexpr auto kHurriedTurn = std::chrono::milliseconds(1);
inline constexpr auto kCountersEvery = std::chrono::milliseconds(100);
inline constexpr std::size_t kManyEvents = EventRing::kEvents / 4;
inline constexpr int kMostReadings = 8;
inline constexpr std::uint64_t kUsualOwnBytes = 64u << 20;

inline constinit std::atomic<std::uint64_t> host_heap{kUnknown};

inline bool has_events(Mode mode) noexcept { return mode >= Mode::kSampled; }

inline std::string own_path() {
  return fmt::format("{}/{}.ebbrec", OwnFolder::of_user().path(), ::getpid());
}

}  // namespace session

class RecorderSession {
 public:
  RecorderSession(RecordingOptions options, LiveSource& source)
      : source_(source),
        name_(options.name),
        goes_with_it_(options.path.empty()),
        path_(goes_with_it_ ? session::own_path() : options.path),
        sample_bytes_(options.sample_bytes),
        mode_(options.mode),
        reading_(session::has_events(options.mode)) {
    options.path = path_;
    if (goes_with_it_ && options.most_bytes == 0) options.most_bytes = session::kUsualOwnBytes;
    trace::set_recording(session::has_events(mode_));
    try {
      writer_.emplace(options, source);
      publish();
      start();
    } catch (...) {
      trace::set_recording(false);
      throw;
    }
    set_sampling(mode_, sample_bytes_);
  }

  // The thread's last turn, and its end.
  void finish() {
    set_sampling(Mode::kOff, sample_bytes_);
    trace::set_recording(false);
    {
      std::lock_guard guard(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
    if (goes_with_it_) SegmentFile::remove(path_, writer_->segment());
  }

  // Runs on the recorder's thread; returns when it has. One at a time.
  void in_turn(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    if (failed_) return;
    work_ = std::move(work);
    asked_ = true;
    wake_.notify_all();
    done_.wait(lock, [&] { return !asked_ || failed_; });
  }

  void change_mode(Mode mode) {
    in_turn([this, mode] { switch_mode(mode); });
  }

  void mark(std::string_view text) {
    in_turn([this, text, time = steady_now()] {
      read_rings();
      writer_->mark(time, text);
      writer_->flush();
    });
  }

  void holder(std::uint32_t site, std::string_view text) {
    in_turn([this, site, text, time = steady_now()] {
      read_rings();
      writer_->holder(time, site, text);
    });
  }

  void start_live(const LiveOptions& options) {
    auto server = std::make_unique<LiveServer>(options);
    in_turn([&] { live_ = std::move(server); });
  }
  void stop_live() {
    in_turn([this] { live_.reset(); });
  }

  RecorderState state() {
    std::lock_guard guard(mutex_);
    return state_;
  }
  LiveState live() {
    std::lock_guard guard(mutex_);
    return live_state_;
  }

  // In the child of a fork: the thread is not there, and the file is the parent's.
  void abandon() noexcept {
    ::close(writer_->descriptor());
    if (live_ != nullptr) live_->abandon();
    trace::set_recording(false);
    set_sampling(Mode::kOff, sample_bytes_);
  }

 private:
  void start() {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
      raise(ErrorKind::kDevice, "[record] no thread can be started: {}", error.code().message());
    }
  }
  void run() noexcept {
    try {
      std::unique_lock lock(mutex_);
      while (!stopping_) {
        wake_.wait_for(lock, hurried_ ? session::kHurriedTurn : session::kTurn,
                       [&] { return stopping_ || asked_; });
        const bool asked = asked_;
        lock.unlock();
        if (asked) work_();
        turn();
        lock.lock();
        publish_locked();
        if (asked) asked_ = false;
        done_.notify_all();
      }
      lock.unlock();
      last_turn();
      publish();
    } catch (const std::exception& error) {
      fail(error.what());
    }
  }

  void switch_mode(Mode mode) {
    if (mode == mode_) return;
    const bool before = session::has_events(mode_), after = session::has_events(mode);
    mode_ = mode;
    set_sampling(mode, sample_bytes_);
    if (before) read_rings();  // what was born under the old mode
    writer_->set_mode(mode);
    if (before == after) return;
    // Off: what is in the rings is written first. On: what was there before is in the checkpoint.
    if (after) tail_ = trace::Tail();
    trace::set_recording(after);
    if (before) read_rings();
    reading_ = after;
    writer_->checkpoint(Because::kMode);
  }

  void serve_viewers() {
    if (live_ == nullptr) return;
    live_->serve([this] { return facts(); }, [this](Mode mode) { switch_mode(mode); });
  }

  LiveFacts facts() {
    writer_->add(counters());  // and all that waits
    return {.name = name_,
            .path = path_,
            .id = writer_->id(),
            .mode = mode_,
            .segment = writer_->segment(),
            .bytes = writer_->bytes(),
            .events = writer_->events(),
            .lost = lost_,
            .descriptor = writer_->descriptor()};
  }

  void turn() {
    read_rings();
    serve_viewers();
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_counters_) {
      next_counters_ = now + session::kCountersEvery;
      writer_->add(counters());
      writer_->flush();
    }
  }

  void last_turn() {
    read_rings();
    if (uncertain_) read_rings();
    writer_->add(counters());
    writer_->checkpoint(Because::kStopped);
    writer_->end();
  }

  Counters counters() const {
    return {.time = steady_now(),
            .resident = resident_bytes(),
            .host_heap = session::host_heap.load(std::memory_order_relaxed),
            .orphans = source_.orphans(),
            .devices = device_counters()};
  }

  void read_rings() {
    if (!reading_) return;  // what somebody traces is none of this recording's business
    std::uint64_t lost = read_once();
    if (lost == 0 && !uncertain_) return;
    for (int i = 1; i < session::kMostReadings; ++i) {
      const std::uint64_t more = read_once();
      lost += more;
      uncertain_ = more != 0;
      if (!uncertain_) break;
    }
    lost_ += lost;
    writer_->lost(lost);
    writer_->checkpoint(Because::kLost);
  }

  std::uint64_t read_once() {
    events_.clear();
    std::size_t threads = 0, most = 0;
    const std::uint64_t lost = tail_.read([&](std::uint32_t thread, const auto& events) {
      ++threads;
      most = std::max(most, events.size());
      for (const TraceEvent& event : events) {
        if (event.kind != EventKind::kAllocate && event.kind != EventKind::kFree) {
          events_.push_back({thread, event});
        }
      }
    });
    if (threads > 1) {
      std::ranges::stable_sort(events_, {}, [](const ThreadEvent& e) { return e.event.time; });
    }
    for (const ThreadEvent& each : events_) writer_->add(each.thread, each.event);
    hurried_ = most > session::kManyEvents;
    return lost;
  }

  void publish_locked() {
    state_.mode = mode_;
    state_.bytes = writer_->bytes();
    state_.events = writer_->events();
    state_.segments = writer_->segment() + 1;
    state_.lost = lost_;
    state_.sample_bytes = sample_bytes_;
    live_state_ = live_ == nullptr ? LiveState() : live_->state();
  }
  void publish() {
    std::lock_guard guard(mutex_);
    publish_locked();
  }
  void fail(const char* why) noexcept {
    trace::set_recording(false);
    set_sampling(Mode::kOff, sample_bytes_);
    live_.reset();
    std::lock_guard guard(mutex_);
    failed_ = true;
    live_state_ = LiveState();
    state_.mode = Mode::kOff;
    try {
      state_.error = why;
    } catch (const std::bad_alloc&) {
      state_.error = "no memory";  // short enough to need none
    }
    done_.notify_all();
  }

  LiveSource& source_;
  const std::string name_;
  const bool goes_with_it_;  // nobody wants the file when the recording has ended
  const std::string path_;
  trace::Tail tail_;  // before events are switched on: none is missed
  const std::uint64_t sample_bytes_;
  std::optional<RecordingWriter> writer_;
  std::vector<ThreadEvent> events_;
  Mode mode_;
  bool reading_;  // the mode has events
  bool hurried_ = false;
  bool uncertain_ = false;  // a checkpoint after a loss is still to come
  std::uint64_t lost_ = 0;
  std::unique_ptr<LiveServer> live_;  // viewers may attach
  std::chrono::steady_clock::time_point next_counters_{};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, done_;
  bool stopping_ = false;
  bool failed_ = false;
  bool asked_ = false;
  std::function<void()> work_;
  RecorderState state_;
  LiveState live_state_;
  std::thread thread_;
};

}  // namespace ebb::observe
