#include "cli/follower.hpp"

#include <unistd.h>

#include <algorithm>

#include "ebb/base/error.hpp"
#include "observe/recording_files.hpp"

namespace ebb::cli {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr int kSilentLooks = 8;  // counters come every 100 ms: then something is the matter

}  // namespace

Follower::Follower(std::int64_t pid) : pid_(pid), attached_(ask_process(pid, "attach")) {
  path_ = attached_.path;
  replay_->listen(&history_);
  thread_ = std::thread([this] { run(); });
}

Follower::~Follower() {
  stop();
  replay_->listen(nullptr);  // an Analysis may have it for longer
}

void Follower::stop() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Follower::wait_until_current(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return current_.wait_for(lock, patience, [&] { return is_current_ || over_; });
}

Played Follower::last() {
  stop();
  return {history_, Analysis(replay_, path_, read_)};
}

bool Follower::over() {
  const std::lock_guard guard(mutex_);
  return over_;
}

void Follower::run() noexcept {
  reading_ = std::unique_lock(mutex_);
  try {
    follow();
  } catch (const std::exception&) {  // the file makes no sense any more, or nobody answers
  }
  over_ = true;
  current_.notify_all();
  reading_.unlock();
}

void Follower::follow() {
  while (!stopping_ && !read_.ended) {
    read_before(attached_);
    read_here(attached_);
    if (stopping_ || read_.ended) return;
    reading_.unlock();
    LiveAnswer next = ask_process(pid_, "attach");
    reading_.lock();
    if (next.recording != attached_.recording) return;  // this one has ended, another began
    attached_ = std::move(next);
  }
}

// Segments that are full already. Where some are gone, what was lost with them is not known.
void Follower::read_before(const LiveAnswer& at) {
  const std::vector<std::string> earlier =
      observe::earlier_segments(at.path, at.recording, at.segment, next_segment_);
  if (begun_ && earlier.size() < at.segment - std::min(at.segment, next_segment_)) {
    replay_->on_lost(replay_->end(), 1);
  }
  for (const std::string& file : earlier) {
    observe::read_segment_file(file, *replay_);
    begun_ = true;
  }
}

void Follower::read_here(const LiveAnswer& at) {
  std::uint64_t place = 0;
  read_ = observe::read_segment(
      [&](std::uint8_t* to, std::size_t count) {
        return take(at.file.number(), place, at.segment, to, count);
      },
      *replay_);
  begun_ = true;
  next_segment_ = at.segment + 1;
}

// Waits for more. 0: there will be no more here.
std::size_t Follower::take(int file, std::uint64_t& place, std::uint32_t segment, std::uint8_t* to,
                           std::size_t count) {
  const auto more = [&] {
    const ssize_t got = ::pread(file, to, count, static_cast<off_t>(place));
    if (got > 0) place += static_cast<std::uint64_t>(got);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  };
  for (int looks = 0; !stopping_; ++looks) {
    if (const std::size_t got = more(); got != 0) return got;
    is_current_ = true;
    current_.notify_all();
    wake_.wait_for(reading_, kLook, [&] { return stopping_; });
    if (looks < kSilentLooks || !goes_on_elsewhere(segment)) continue;
    return more();  // what came before that was said
  }
  return 0;
}

bool Follower::goes_on_elsewhere(std::uint32_t segment) {
  reading_.unlock();
  bool elsewhere = true;
  try {
    const LiveAnswer now = ask_process(pid_, "info");
    elsewhere = now.segment != segment || now.recording != attached_.recording;
  } catch (const Error&) {  // it has ended
  }
  reading_.lock();
  return elsewhere;
}

}  // namespace ebb::cli
