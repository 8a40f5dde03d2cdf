#include "observe/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>

#include "base/fork.hpp"
#include "ebb/base/error.hpp"
#include "observe/process_counters.hpp"
#include "observe/sampler.hpp"

namespace ebb::observe {
namespace {

constexpr auto kTurn = std::chrono::milliseconds(5);
constexpr auto kHurriedTurn = std::chrono::milliseconds(1);
constexpr auto kCountersEvery = std::chrono::milliseconds(100);
constexpr std::size_t kManyEvents = EventRing::kEvents / 4;
constexpr int kMostReadings = 8;

constinit std::atomic<std::uint64_t> host_heap{kUnknown};

bool has_events(Mode mode) noexcept { return mode >= Mode::kSampled; }

}  // namespace

// What belongs to one recording. Its thread writes; others ask, under the lock, for a turn.
class Recorder::Session {
 public:
  Session(RecordingOptions options, LiveSource& source)
      : source_(source),
        sample_bytes_(options.sample_bytes),
        mode_(options.mode),
        reading_(has_events(options.mode)) {
    trace::set_recording(has_events(mode_));
    try {
      writer_.emplace(options, source);
      publish();
      thread_ = std::thread([this] { run(); });
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
    in_turn([this, mode] {
      if (mode == mode_) return;
      const bool before = has_events(mode_), after = has_events(mode);
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
    });
  }

  void mark(std::string_view text) {
    in_turn([this, text, time = steady_now()] {
      read_rings();
      writer_->mark(time, text);
      writer_->flush();
    });
  }

  RecorderState state() {
    std::lock_guard guard(mutex_);
    return state_;
  }

  // In the child of a fork: the thread is not there, and the file is the parent's.
  void abandon() noexcept {
    ::close(writer_->descriptor());
    trace::set_recording(false);
    set_sampling(Mode::kOff, sample_bytes_);
  }

 private:
  void run() noexcept {
    try {
      std::unique_lock lock(mutex_);
      while (!stopping_) {
        wake_.wait_for(lock, hurried_ ? kHurriedTurn : kTurn, [&] { return stopping_ || asked_; });
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

  void turn() {
    read_rings();
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_counters_) {
      next_counters_ = now + kCountersEvery;
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
            .host_heap = host_heap.load(std::memory_order_relaxed),
            .orphans = source_.orphans(),
            .devices = device_counters()};
  }

  void read_rings() {
    if (!reading_) return;  // what somebody traces is none of this recording's business
    std::uint64_t lost = read_once();
    if (lost == 0 && !uncertain_) return;
    for (int i = 1; i < kMostReadings; ++i) {
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
    hurried_ = most > kManyEvents;
    return lost;
  }

  void publish_locked() {
    state_.mode = mode_;
    state_.bytes = writer_->bytes();
    state_.events = writer_->events();
    state_.segments = writer_->segment() + 1;
    state_.lost = lost_;
    state_.sample_bytes = sample_bytes_;
  }
  void publish() {
    std::lock_guard guard(mutex_);
    publish_locked();
  }
  void fail(const char* why) noexcept {
    trace::set_recording(false);
    set_sampling(Mode::kOff, sample_bytes_);
    std::lock_guard guard(mutex_);
    failed_ = true;
    state_.mode = Mode::kOff;
    try {
      state_.error = why;
    } catch (const std::bad_alloc&) {
      state_.error = "no memory";  // short enough to need none
    }
    done_.notify_all();
  }

  LiveSource& source_;
  trace::Tail tail_;  // before events are switched on: none is missed
  const std::uint64_t sample_bytes_;
  std::optional<RecordingWriter> writer_;
  std::vector<ThreadEvent> events_;
  Mode mode_;
  bool reading_;  // the mode has events
  bool hurried_ = false;
  bool uncertain_ = false;  // a checkpoint after a loss is still to come
  std::uint64_t lost_ = 0;
  std::chrono::steady_clock::time_point next_counters_{};

  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, done_;
  bool stopping_ = false;
  bool failed_ = false;
  bool asked_ = false;
  std::function<void()> work_;
  RecorderState state_;
  std::thread thread_;
};

// The lock is taken over a fork, so that the session is whole in the child, which then forgets it:
// its thread is the parent's.
struct Recorder::Fork {
  static void before() noexcept { instance().mutex_.lock(); }
  static void in_parent() noexcept { instance().mutex_.unlock(); }
  static void in_child() noexcept {
    if (Session* session = instance().session_.release()) session->abandon();
    instance().mutex_.unlock();
  }
  static constinit ForkHook hook;
};
constinit ForkHook Recorder::Fork::hook{ForkRank::kWorkers, before, in_parent, in_child};

Recorder::Recorder() { at_fork(Fork::hook); }

Recorder& Recorder::instance() {
  static Recorder& only = *std::unique_ptr<Recorder>(new Recorder).release();
  return only;
}
[[maybe_unused]] static const Recorder& g_made_at_load = Recorder::instance();

void Recorder::start(RecordingOptions options, LiveSource& source) {
  if (options.mode == Mode::kOff || options.mode > Mode::kFull) {
    raise(ErrorKind::kInvalidArgument, "[record] mode {} was given, 1 to 3 are allowed",
          static_cast<int>(options.mode));
  }
  if (options.sample_bytes == 0) options.sample_bytes = kUsualSampleBytes;
  std::lock_guard guard(mutex_);
  if (session_ != nullptr && session_->state().error.empty()) {
    raise(ErrorKind::kWrongState, "[record] there is a recording already; stop it first");
  }
  if (session_ != nullptr) session_->finish();
  session_.reset();
  session_ = std::make_unique<Session>(std::move(options), source);
  // A program that ends without stopping it would lose the last moments.
  static const int at_exit = std::atexit([] {
    try {
      instance().stop();
    } catch (const Error&) {  // the file could not be written: nobody is left to be told
    }
  });
  static_cast<void>(at_exit);
}

void Recorder::set_mode(Mode mode) {
  if (mode == Mode::kOff || mode > Mode::kFull) {
    raise(ErrorKind::kInvalidArgument, "[record] mode {} was given, 1 to 3 are allowed",
          static_cast<int>(mode));
  }
  std::lock_guard guard(mutex_);
  if (session_ == nullptr) raise(ErrorKind::kWrongState, "[record] there is no recording");
  session_->change_mode(mode);
}

void Recorder::mark(std::string_view text) {
  std::lock_guard guard(mutex_);
  if (session_ == nullptr) raise(ErrorKind::kWrongState, "[record] there is no recording");
  session_->mark(text);
}

bool Recorder::stop() {
  std::lock_guard guard(mutex_);
  if (session_ == nullptr) return false;
  session_->finish();
  const RecorderState state = session_->state();
  session_.reset();
  if (!state.error.empty()) throw Error(ErrorKind::kDevice, state.error);
  return true;
}

RecorderState Recorder::state() {
  std::lock_guard guard(mutex_);
  return session_ == nullptr ? RecorderState{} : session_->state();
}

void Recorder::set_host_heap(std::uint64_t bytes) noexcept {
  host_heap.store(bytes, std::memory_order_relaxed);
}

}  // namespace ebb::observe
