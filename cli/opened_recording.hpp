// A recording for viewers. A large one is there at once, as its counters and checkpoints tell it; what
// only its events tell is read meanwhile, on a thread of its own. Spans are read again, in the detail
// that they allow, from the place of the index that is next before them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cli/page.hpp"
#include "cli/recording_index.hpp"
#include "observe/recording_files.hpp"

namespace ebb::cli {

class OpenedRecording {
 public:
  // From so many bytes on it counts as large: about a second's reading.
  static constexpr std::uint64_t kLarge = 16u << 20;

  // Throws Error where it cannot be read.
  explicit OpenedRecording(const std::string& file, std::uint64_t large = kLarge,
                           std::uint64_t index_step = 1u << 20);
  ~OpenedRecording();
  OpenedRecording(const OpenedRecording&) = delete;
  OpenedRecording& operator=(const OpenedRecording&) = delete;

  // As page_data gives it. Of everything: as much as is known now. Of a span: waits until all has been
  // read once. Any thread.
  std::string data(const Span& span = {});
  const RecordingIndex& index() const noexcept { return index_; }

 private:
  void read_all() noexcept;
  std::shared_ptr<const Played> all_of_it();
  std::shared_ptr<const Played> wait_for_all();

  const std::string file_;
  const observe::RecordingFiles files_;
  RecordingIndex index_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::shared_ptr<const Played> now_;  // an overview until all is read
  std::string error_;                  // why there will be no more
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace ebb::cli
