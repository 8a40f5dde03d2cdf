#include "cli/opened_recording.hpp"

#include <filesystem>

#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

struct Stopped {};

class StoppableReplay final : public observe::Replay {
 public:
  explicit StoppableReplay(const std::atomic<bool>& stopping) : stopping_(stopping) {}
  bool wants_events() override {
    if (stopping_) throw Stopped();
    return true;
  }

 private:
  const std::atomic<bool>& stopping_;
};

class ReplayWithoutEvents final : public observe::Replay {
 public:
  bool wants_events() override { return false; }
};

std::shared_ptr<Played> played(const std::string& file, std::shared_ptr<observe::Replay> replay) {
  History history;
  replay->listen(&history);
  const observe::ReadResult read = observe::read_recording(file, *replay);
  replay->listen(nullptr);
  return std::make_shared<Played>(history, Analysis(std::move(replay), file, read));
}

}  // namespace

OpenedRecording::OpenedRecording(const std::string& file, std::uint64_t large) : file_(file) {
  std::error_code no_size;
  const std::uintmax_t size = std::filesystem::file_size(file, no_size);
  if (no_size || size < large) {
    now_ = std::make_shared<const Played>(file);
    return;
  }
  const std::shared_ptr<Played> overview = played(file, std::make_shared<ReplayWithoutEvents>());
  overview->overview = true;
  now_ = overview;
  thread_ = std::thread([this] { read_all(); });
}

OpenedRecording::~OpenedRecording() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void OpenedRecording::read_all() noexcept {
  try {
    const std::shared_ptr<const Played> all =
        played(file_, std::make_shared<StoppableReplay>(stopping_));
    const std::lock_guard guard(mutex_);
    now_ = all;
  } catch (const Stopped&) {  // nobody looks any more
  } catch (const std::exception& error) {
    const std::lock_guard guard(mutex_);
    error_ = error.what();
  }
}

std::string OpenedRecording::data() {
  std::shared_ptr<const Played> now;
  {
    const std::lock_guard guard(mutex_);
    if (!error_.empty()) raise(ErrorKind::kDevice, "{}", error_);
    now = now_;
  }
  return page_data({now.get()}, now->overview);
}

}  // namespace ebb::cli
