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
// free: if all wait, it is a deadlock. And memory that is not atomic must be passed on by an acquire
// that reads what a release wrote: vector clocks tell, whatever this machine's own memory model lets
// pass (memory_watch.hpp; Plain where the compiler does not call for each use). What is on the stack
// of the thread that sets up is the test's own, and nobody's affair.
//
// With `old_values` a load may also find a value that was stored before the last one, where nothing
// has passed the last one on to its thread (stores.hpp): as a preemption, it is one more choice.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "schedules/clock.hpp"
#include "schedules/memory_watch.hpp"
#include "schedules/stores.hpp"

namespace ebb::schedules {

// Decides which of the threads that can goes on. `current` goes on if it can and nothing else is
// wanted.
class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual void begin(std::size_t threads) = 0;
  virtual std::size_t choose(const std::vector<std::size_t>& ready,
                             std::optional<std::size_t> current) = 0;
  // By how many stores a load is behind, of those that it may be.
  virtual std::size_t behind(std::size_t most) = 0;
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
  // The same up to the thread's next process barrier.
  static void at_once_to_barrier() noexcept;
  void expect(bool holds, std::string_view what);

  const std::string& failure() const noexcept { return failure_; }

  // For the atomics and Plain.
  static Schedule* current() noexcept;
  void step();  // another thread may go on here
  std::size_t here() const noexcept;
  Clock& clock() noexcept { return clocks_[here()]; }
  // Of an atomic in which `now` is: what a load finds; a store; a change; a change that fails.
  std::uint64_t load(const void* of, std::uint64_t now, std::memory_order order,
                     const std::source_location& at);
  void store(const void* of, std::uint64_t now, std::uint64_t value, std::memory_order order,
             const std::source_location& at);
  void exchange(const void* of, std::uint64_t now, std::uint64_t value, std::memory_order order,
                const std::source_location& at);
  void look(const void* of, std::uint64_t now, std::memory_order order,
            const std::source_location& at);
  // Of a lock, or an atomic of the standard library's.
  void takes(const void* lock);
  void gives_back(const void* lock);
  // Whether the caller is one of those that take turns.
  bool is_under_way() const noexcept { return here() != kMostThreads; }
  // All threads know what all did.
  void barrier();
  // std::atomic_thread_fence, seq_cst.
  void fence();
  // For ordinary memory. The first schedule of an exploration makes what is made once in a process;
  // how that is passed on is the compiler's affair.
  void watch() noexcept { watches_ = true; }
  void used(const void* at, std::size_t bytes, bool writes, bool atomic, const void* code);
  void forget(const void* at, std::size_t bytes);

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
  Stores& stores_of(const void* atomic, std::uint64_t now);
  void add(Stores& to, std::uint64_t value, std::memory_order order, Clock passed_on);

  Strategy& strategy_;
  std::vector<std::function<void()>> bodies_;
  std::vector<Worker> workers_;
  std::vector<std::thread> threads_;
  std::array<Clock, kMostThreads + 1> clocks_{};
  std::unordered_map<const void*, Clock> released_;  // by locks
  std::map<const void*, Stores> stores_;             // of atomics
  std::uint64_t stored_ = 0;                         // how often, in all of them
  Clock fenced_{};                                   // what was known at fences
  struct Fence {
    Clock known{};  // at this and all earlier ones
    std::uint64_t stored = 0;
  };
  std::array<Fence, kMostThreads + 1> fences_{};  // the last of each thread
  bool watches_ = false;
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

  double seconds = 10;      // of one exploration
  bool old_values = false;  // are found too
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
