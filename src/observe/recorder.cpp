#include "observe/recorder.hpp"

#include <cstdlib>

#include "base/fork.hpp"
#include "ebb/base/error.hpp"
#include "observe/recorder_session.hpp"
#include "observe/sampler.hpp"

namespace ebb::observe {

// The lock is taken over a fork, so that the session is whole in the child, which then forgets it:
// its thread is the parent's.
struct Recorder::Fork {
  static void before() noexcept { instance().mutex_.lock(); }
  static void in_parent() noexcept { instance().mutex_.unlock(); }
  static void in_child() noexcept {
    if (RecorderSession* session = instance().session_.release()) session->abandon();
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
  const std::unique_lock lock = locked();
  if (session_ != nullptr && session_->state().error.empty()) {
    raise(ErrorKind::kWrongState, "[record] there is a recording already; stop it first");
  }
  if (session_ != nullptr) session_->finish();
  session_.reset();
  session_ = std::make_unique<RecorderSession>(std::move(options), source);
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
  const std::unique_lock lock = locked();
  running().change_mode(mode);
}

void Recorder::mark(std::string_view text) {
  const std::unique_lock lock = locked();
  running().mark(text);
}

void Recorder::holder(std::uint32_t site, std::string_view text) {
  const std::unique_lock lock = locked();
  running().holder(site, text);
}

void Recorder::start_live(const LiveOptions& options) {
  const std::unique_lock lock = locked();
  if (running().live().on) {
    raise(ErrorKind::kWrongState, "[live] viewers may attach already");
  }
  running().start_live(options);
}

void Recorder::stop_live() {
  const std::unique_lock lock = locked();
  if (session_ != nullptr) session_->stop_live();
}

LiveState Recorder::live() {
  const std::unique_lock lock = locked();
  return session_ == nullptr ? LiveState() : session_->live();
}

// Not from within `asked`: it runs on the thread that all of these wait for.
std::unique_lock<std::mutex> Recorder::locked() {
  if (is_asking_host()) {
    raise(ErrorKind::kWrongState,
          "[live] called from the function that is asked, on the recorder's thread: pass it on");
  }
  return std::unique_lock(mutex_);
}

RecorderSession& Recorder::running() {
  if (session_ == nullptr) raise(ErrorKind::kWrongState, "[record] there is no recording");
  return *session_;
}

bool Recorder::stop() {
  const std::unique_lock lock = locked();
  if (session_ == nullptr) return false;
  session_->finish();
  const RecorderState state = session_->state();
  session_.reset();
  if (!state.error.empty()) throw Error(ErrorKind::kDevice, state.error);
  return true;
}

RecorderState Recorder::state() {
  const std::unique_lock lock = locked();
  return session_ == nullptr ? RecorderState{} : session_->state();
}

void Recorder::set_host_heap(std::uint64_t bytes) noexcept {
  session::host_heap.store(bytes, std::memory_order_relaxed);
}

}  // namespace ebb::observe
