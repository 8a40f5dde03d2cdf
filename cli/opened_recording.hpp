// A recording for viewers. A large one is there at once, as its counters and checkpoints tell it; what
// only its events tell is read meanwhile, on a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cli/page.hpp"

namespace ebb::cli {

class OpenedRecording {
 public:
  // From so many bytes on it counts as large: about a second's reading.
  static constexpr std::uint64_t kLarge = 16u << 20;

  // Throws Error where it cannot be read.
  explicit OpenedRecording(const std::string& file, std::uint64_t large = kLarge);
  ~OpenedRecording();
  OpenedRecording(const OpenedRecording&) = delete;
  OpenedRecording& operator=(const OpenedRecording&) = delete;

  // As page_data gives it, of as much as is known now. Any thread.
  std::string data();

 private:
  void read_all() noexcept;

  const std::string file_;
  std::mutex mutex_;                   // guards what follows
  std::shared_ptr<const Played> now_;  // an overview until all is read
  std::string error_;                  // why there will be no more
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace ebb::cli
