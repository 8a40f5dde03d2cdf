#include "schedules/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace ebb::schedules {
namespace {

Schedule* g_run = nullptr;
thread_local std::size_t t_index = kMostThreads;
thread_local bool t_at_once = false;
std::int64_t g_time = 0;
constexpr std::uint64_t kMostSteps = 200'000;  // more is a loop that nobody ends

// Depth first over the decisions, the first choice being to go on without a preemption.
class Exhaustive final : public Strategy {
 public:
  explicit Exhaustive(std::size_t preemptions) : most_(preemptions) {}

  void begin(std::size_t) override { at_ = used_ = 0; }

  std::size_t choose(const std::vector<std::size_t>& ready,
                     std::optional<std::size_t> current) override {
    const bool can_stay = current && std::ranges::find(ready, *current) != ready.end();
    std::vector<std::size_t> choices;
    if (can_stay) choices.push_back(*current);
    if (!can_stay || used_ < most_) {
      for (const std::size_t each : ready) {
        if (!can_stay || each != *current) choices.push_back(each);
      }
    }
    if (at_ == path_.size()) path_.push_back({0, choices.size()});
    repeatable_ &= path_[at_].of == choices.size();
    const std::size_t taken = choices[std::min(path_[at_].taken, choices.size() - 1)];
    ++at_;
    if (can_stay && taken != *current) ++used_;
    return taken;
  }

  bool repeatable() const override { return repeatable_; }

  bool next() override {
    path_.resize(std::min(path_.size(), at_));
    while (!path_.empty() && path_.back().taken + 1 >= path_.back().of) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

 private:
  struct Decision {
    std::size_t taken, of;
  };
  const std::size_t most_;
  std::vector<Decision> path_;
  std::size_t at_ = 0, used_ = 0;
  bool repeatable_ = true;
};

// The thread of the highest priority goes on; at `depth` random steps it falls below all others.
class Priorities final : public Strategy {
 public:
  Priorities(std::size_t depth, std::uint64_t seed) : depth_(depth), random_(seed) {}

  void begin(std::size_t threads) override {
    priorities_.resize(threads);
    for (std::size_t i = 0; i < threads; ++i) priorities_[i] = static_cast<int>(i);
    std::ranges::shuffle(priorities_, random_);
    longest_ = std::max(longest_, step_);
    step_ = 0;
    lowest_ = 0;
    changes_.clear();
    for (std::size_t i = 0; i < depth_; ++i) changes_.push_back(random_() % (longest_ + 1));
  }

  std::size_t choose(const std::vector<std::size_t>& ready, std::optional<std::size_t>) override {
    const auto best = [&] {
      return *std::ranges::max_element(ready, {},
                                       [&](std::size_t each) { return priorities_[each]; });
    };
    ++step_;
    if (std::ranges::find(changes_, step_) != changes_.end()) priorities_[best()] = --lowest_;
    return best();
  }

  bool next() override { return true; }

 private:
  const std::size_t depth_;
  std::mt19937_64 random_;
  std::vector<int> priorities_;
  std::vector<std::uint64_t> changes_;
  std::uint64_t step_ = 0, longest_ = 16;
  int lowest_ = 0;
};

}  // namespace

void join(Clock& clock, const Clock& other) noexcept {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

Schedule* Schedule::current() noexcept { return g_run; }

std::size_t Schedule::here() const noexcept { return t_index; }

void Schedule::expect(bool holds, const char* what) {
  if (!holds && failure_.empty()) failure_ = what;
}

void Schedule::start() {
  const std::size_t count = bodies_.size();
  workers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    clocks_[i] = clocks_[kMostThreads];
    clocks_[i][i] = 1;
  }
  g_run = this;
  strategy_.begin(count);
  for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this, i] { run_worker(i); });
  {
    std::unique_lock lock(mutex_);
    hand_over(lock, false);
  }
  let_them_leave();
  g_run = nullptr;
  for (std::size_t i = 0; i < count; ++i) join(clocks_[kMostThreads], clocks_[i]);
}

// What a thread does when it ends (it gives back what it has cached) is in no schedule: they leave
// one after the other, when all have done their work.
void Schedule::let_them_leave() {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    {
      std::unique_lock lock(mutex_);
      turn_changed_[kMostThreads].wait(lock, [&] { return all_ended(); });
      workers_[i].may_leave = true;
      turn_changed_[i].notify_one();
    }
    threads_[i].join();
  }
}

bool Schedule::all_ended() const noexcept { return std::ranges::all_of(workers_, &Worker::ended); }

void Schedule::run_worker(std::size_t index) {
  t_index = index;
  {
    std::unique_lock lock(mutex_);
    turn_changed_[index].wait(lock, [&] { return turn_ == index; });
  }
  bodies_[index]();
  std::unique_lock lock(mutex_);
  workers_[index].ended = true;
  hand_over(lock, false);
  if (all_ended()) turn_changed_[kMostThreads].notify_one();
  turn_changed_[index].wait(lock, [&] { return workers_[index].may_leave; });
  t_index = kMostThreads;
}

void Schedule::step() {
  if (t_index == kMostThreads || t_at_once) return;  // before or after the threads
  std::unique_lock lock(mutex_);
  hand_over(lock, true);
}

void Schedule::until(const std::function<bool()>& holds) {
  if (t_index == kMostThreads) return expect(holds(), "waits when all have ended");
  std::unique_lock lock(mutex_);
  wait_here(lock, holds);
}

void Schedule::pause() {
  if (t_index == kMostThreads) return;
  std::unique_lock lock(mutex_);
  workers_[t_index].pauses = true;
  wait_here(lock, [this, mine = steps_ + 1] { return steps_ != mine; });
  workers_[t_index].pauses = false;
}

void Schedule::at_once(const std::function<void()>& work) {
  t_at_once = true;
  work();
  t_at_once = false;
}

void Schedule::wait_here(std::unique_lock<std::mutex>& lock, const std::function<bool()>& holds) {
  workers_[t_index].waits_for = &holds;
  hand_over(lock, true);
  workers_[t_index].waits_for = nullptr;
}

// Those that can go on. Where nobody can, those that only look again; where there are none, all
// that wait, so that they run out, whatever they find.
std::vector<std::size_t> Schedule::ready() {
  std::vector<std::size_t> free, pausing, waiting;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (worker.ended) continue;
    const bool goes_on = worker.waits_for == nullptr || (*worker.waits_for)();
    (goes_on ? free : worker.pauses ? pausing : waiting).push_back(i);
  }
  if (!free.empty()) return free;
  if (!pausing.empty()) return pausing;
  expect(waiting.empty(), "all threads wait");
  return waiting;
}

// `can_stay`: this thread may be the one that goes on, and returns when it is.
void Schedule::hand_over(std::unique_lock<std::mutex>& lock, bool can_stay) {
  if (++steps_ > kMostSteps) {
    std::fprintf(stderr, "schedules: a loop that nobody ends\n");
    std::abort();
  }
  const std::vector<std::size_t> choices = ready();
  if (choices.empty()) return;
  turn_ = strategy_.choose(choices, can_stay ? std::optional(t_index) : std::nullopt);
  if (can_stay && turn_ == t_index) return;
  turn_changed_[turn_].notify_one();
  if (can_stay) turn_changed_[t_index].wait(lock, [&] { return turn_ == t_index; });
}

void pause() noexcept {
  if (Schedule* const run = Schedule::current()) return run->pause();
  std::this_thread::yield();
}

std::int64_t pass(std::int64_t nanoseconds) noexcept { return g_time += nanoseconds; }

bool Explorer::all(std::size_t preemptions, const Scenario& scenario) {
  Exhaustive strategy(preemptions);
  return explore(strategy, scenario);
}

bool Explorer::some(std::size_t depth, std::uint64_t seed, const Scenario& scenario) {
  Priorities strategy(depth, seed);
  return explore(strategy, scenario);
}

bool Explorer::explore(Strategy& strategy, const Scenario& scenario) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(seconds));
  complete_ = false;
  while (std::chrono::steady_clock::now() < until) {
    Schedule run(strategy);
    scenario(run);
    ++schedules_;
    failure_ = run.failure();
    if (!failure_.empty()) return false;
    if (!strategy.next()) {
      complete_ = strategy.repeatable();
      break;
    }
  }
  return true;
}

}  // namespace ebb::schedules
