// A controlled scheduler: threads that take turns at the operations of atomics and locks, in an order
// that is chosen, so that a protocol of a few operations is seen in all its interleavings.
//
//   Explorer explorer;
//   explorer.all(3, [](Schedule& run) {           // every schedule of at most 3 preemptions
//     Queue queue;
//     run.thread([&] { queue.push(1); });
//     run.thread([&] { queue.push(2); });
//     run.start();                           // returns when all have ended
//     run.expect(queue.size() == 2, "both arrived");
//   });
//
// Two things are checked besides what `expect` says. A thread that waits (`run.until`) must come
// free: if all wait, it is a deadlock. And memory that is not atomic (Plain) must be passed on by an
// acquire that reads what a release wrote: vector clocks tell, whatever this machine's own memory
// model lets pass. Interleavings are those of sequential consistency; a value that only a weaker
// model could read is not tried, a missing order around Plain is found all the same.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace ebb::schedules {

inline constexpr std::size_t kMostThreads = 4;  // that take turns; one more sets up and looks after
using Clock = std::array<std::uint32_t, kMostThreads + 1>;

void join(Clock& clock, const Clock& other) noexcept;

// Decides which of the threads that can goes on. `current` goes on if it can and nothing else is
// wanted.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void begin(std::size_t threads) = 0;
  virtual std::size_t choose(const std::vector<std::size_t>& ready,
                             std::optional<std::size_t> current) = 0;
  // After a schedule: whether there is another.
  virtual bool next() = 0;
  // Whether each schedule went as far as it was repeated as the one before it.
  virtual bool repeatable() const { return true; }
};

class Schedule {
 public:
  explicit Schedule(Strategy& strategy) : strategy_(strategy) {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  void thread(std::function<void()> body) { bodies_.push_back(std::move(body)); }
  // Runs them, by turns. Once.
  void start();
  // Waits in a thread of the run, without taking turns, until `holds`; that must read no atomic.
  void until(const std::function<bool()>& holds);
  // Goes on when another thread has taken a step, or when none can: what a loop does that looks
  // again and again.
  void pause();
  // What it does is one step: preparations that no schedule is wanted for. Waits all the same where
  // a lock is taken.
  void at_once(const std::function<void()>& work);
  void expect(bool holds, const char* what);

  const std::string& failure() const noexcept { return failure_; }

  // For the atomics and Plain.
  static Schedule* current() noexcept;
  void step();  // another thread may go on here
  std::size_t here() const noexcept;
  Clock& clock() noexcept { return clocks_[here()]; }
  Clock& released(const void* by) { return released_[by]; }

 private:
  struct Worker {
    bool ended = false;
    bool may_leave = false;
    const std::function<bool()>* waits_for = nullptr;
    bool pauses = false;  // comes free where nobody else can go on
  };
  void wait_here(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds);
  std::vector<std::size_t> ready();
  bool all_ended() const noexcept;
  void let_them_leave();
  void hand_over(std::unique_lock<std::mutex>& lock, bool can_stay);
  void run_worker(std::size_t index);

  Strategy& strategy_;
  std::vector<std::function<void()>> bodies_;
  std::vector<Worker> workers_;
  std::vector<std::thread> threads_;
  std::array<Clock, kMostThreads + 1> clocks_{};
  std::unordered_map<const void*, Clock> released_;
  std::uint64_t steps_ = 0;
  std::mutex mutex_;
  std::array<std::condition_variable, kMostThreads + 1> turn_changed_;  // one for each thread
  std::size_t turn_ = kMostThreads;                                     // none
  std::string failure_;
};

// For loops of the sources: as Schedule::pause, outside of a schedule the machine's own.
void pause() noexcept;
// The schedule's time, in nanoseconds, after so many more.
std::int64_t pass(std::int64_t nanoseconds) noexcept;

class Explorer {
 public:
  using Scenario = std::function<void(Schedule&)>;

  // Every schedule with at most this many preemptions, until a failure or the time is over.
  bool all(std::size_t preemptions, const Scenario& scenario);
  // Random ones by priorities that change `depth` times (PCT): each has a known chance of showing
  // an error that needs as many changes in a given order.
  bool some(std::size_t depth, std::uint64_t seed, const Scenario& scenario);

  double seconds = 10;  // of one exploration
  std::uint64_t schedules() const noexcept { return schedules_; }
  bool complete() const noexcept { return complete_; }
  const std::string& failure() const noexcept { return failure_; }

 private:
  bool explore(Strategy& strategy, const Scenario& scenario);

  std::uint64_t schedules_ = 0;
  bool complete_ = false;
  std::string failure_;
};

}  // namespace ebb::schedules
