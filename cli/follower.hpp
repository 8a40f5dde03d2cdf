// Follows a process's recording as it grows, on a thread of its own. Any number may follow one
// process; it does nothing for them but answer when they attach.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/live_client.hpp"
#include "cli/page.hpp"

namespace ebb::cli {

class Follower {
 public:
  // Attaches. Throws Error where that is not to be had.
  explicit Follower(std::int64_t pid);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  // All that was there when it attached has been read, or there is no more; false: not in time.
  bool wait_until_current(std::chrono::milliseconds patience);
  // What `look` makes of it as it is now: of a const Analysis&, a const Played&. Nothing is read
  // meanwhile, and nothing of it may be used afterwards.
  template <typename Look>
  auto analysed(Look look) {
    const std::lock_guard guard(mutex_);
    const Analysis now(replay_, path_, read_);
    return look(now);
  }
  template <typename Look>
  auto played(Look look) {
    const std::lock_guard guard(mutex_);
    const Played now(history_, Analysis(replay_, path_, read_));
    return look(now);
  }
  // As it was when all reading had stopped.
  Played last();
  // The recording has ended, or its process.
  bool over();
  std::int64_t pid() const noexcept { return pid_; }

 private:
  void stop();
  void run() noexcept;
  void follow();
  void read_before(const LiveAnswer& at);
  void read_here(const LiveAnswer& at);
  std::size_t take(int file, std::uint64_t& place, std::uint32_t segment, std::uint8_t* to,
                   std::size_t count);
  bool goes_on_elsewhere(std::uint32_t segment);

  const std::int64_t pid_;
  LiveAnswer attached_;
  std::uint32_t next_segment_ = 0;  // the one that is to be read
  bool begun_ = false;

  // Held by the thread while it reads; given back where it waits for more.
  std::unique_lock<std::mutex> reading_;
  std::mutex mutex_;
  std::condition_variable wake_, current_;
  std::shared_ptr<observe::Replay> replay_ = std::make_shared<observe::Replay>();
  History history_;
  observe::ReadResult read_;
  std::string path_;
  bool is_current_ = false, over_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace ebb::cli
