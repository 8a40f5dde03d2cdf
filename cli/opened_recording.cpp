#include "cli/opened_recording.hpp"

#include <filesystem>

#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

struct Stopped {};

class IndexingReplay final : public observe::Replay {
 public:
  IndexingReplay(RecordingIndex& index, const History& history, const std::atomic<bool>& stopping)
      : index_(index), history_(history), stopping_(stopping) {}
  bool wants_events() override {
    if (stopping_) throw Stopped();
    return true;
  }
  void on_place(const observe::ReadingPlace& place) override {
    index_.offer(place, *this, history_);
  }

 private:
  RecordingIndex& index_;
  const History& history_;
  const std::atomic<bool>& stopping_;
};

class ReplayWithoutEvents final : public observe::Replay {
 public:
  bool wants_events() override { return false; }
};

// Reads no further than its history looks.
class SpanReplay final : public observe::Replay {
 public:
  SpanReplay(const observe::Replay& from, History& history)
      : observe::Replay(from), history_(history) {
    listen(&history);
  }
  bool wants_events() override {
    if (end() > history_.end_of_span()) throw Stopped();
    return true;
  }

 private:
  History& history_;
};

std::shared_ptr<Played> played(const std::string& name, const observe::RecordingFiles& files,
                               std::shared_ptr<observe::Replay> replay, History& history) {
  replay->listen(&history);
  const observe::ReadResult read = files.read(*replay);
  replay->listen(nullptr);
  return std::make_shared<Played>(history, Analysis(std::move(replay), name, read));
}

}  // namespace

OpenedRecording::OpenedRecording(const std::string& file, std::uint64_t large,
                                 std::uint64_t index_step)
    : file_(file), files_(file), index_(index_step) {
  std::error_code no_size;
  const std::uintmax_t size = std::filesystem::file_size(file, no_size);
  if (no_size || size < large) {
    now_ = all_of_it();
    return;
  }
  History history;
  const std::shared_ptr<Played> overview =
      played(file, files_, std::make_shared<ReplayWithoutEvents>(), history);
  overview->overview = true;
  now_ = overview;
  thread_ = std::thread([this] { read_all(); });
}

OpenedRecording::~OpenedRecording() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const Played> OpenedRecording::all_of_it() {
  History history;
  return played(file_, files_, std::make_shared<IndexingReplay>(index_, history, stopping_),
                history);
}

void OpenedRecording::read_all() noexcept {
  try {
    const std::shared_ptr<const Played> all = all_of_it();
    const std::lock_guard guard(mutex_);
    now_ = all;
  } catch (const Stopped&) {  // nobody looks any more
  } catch (const std::exception& error) {
    const std::lock_guard guard(mutex_);
    error_ = error.what();
  }
  changed_.notify_all();
}

std::shared_ptr<const Played> OpenedRecording::wait_for_all() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !now_->overview || !error_.empty(); });
  if (!error_.empty()) raise(ErrorKind::kDevice, "{}", error_);
  return now_;
}

std::string OpenedRecording::data(const Span& span) {
  if (span.whole()) {
    std::shared_ptr<const Played> now;
    {
      const std::lock_guard guard(mutex_);
      if (!error_.empty()) raise(ErrorKind::kDevice, "{}", error_);
      now = now_;
    }
    return page_data({now.get()}, now->overview);
  }
  const std::shared_ptr<const Played> all = wait_for_all();
  const std::uint64_t begin = all->analysis.replay.begin();
  History history(span);
  history.on_begin(begin);
  const std::shared_ptr<const IndexedPlace> from = index_.before(history.begin());
  try {
    if (from == nullptr) {
      SpanReplay replay(observe::Replay(), history);
      files_.read(replay);
    } else {
      history = from->history.continued(span, begin);
      SpanReplay replay(from->living, history);
      files_.read_from(from->place, replay);
    }
  } catch (const Stopped&) {  // that was all of it
  }
  const Played part(history, all->analysis);
  return page_data({&part});
}

}  // namespace ebb::cli
