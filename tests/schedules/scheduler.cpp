#include "schedules/scheduler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "schedules/orders.hpp"
#include "schedules/strategies.hpp"

namespace ebb::schedules {
namespace {

Schedule* g_run = nullptr;
thread_local std::size_t t_index = kMostThreads;
thread_local bool t_at_once = false;
thread_local bool t_unwatched = false;
MemoryWatch g_watch;  // one for all schedules: it is large
std::int64_t g_time = 0;
// The scheduler's own uses of memory are not the core's, though it may share functions with it.
class Unwatched {
 public:
  Unwatched() noexcept : before_(std::exchange(t_unwatched, true)) {}
  ~Unwatched() { t_unwatched = before_; }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;

 private:
  const bool before_;
};

bool acquires(std::memory_order order) noexcept {
  return order != std::memory_order_relaxed && order != std::memory_order_release;
}
bool releases(std::memory_order order) noexcept {
  return order != std::memory_order_relaxed && order != std::memory_order_acquire;
}
bool is_total(std::memory_order order) noexcept { return order == std::memory_order_seq_cst; }

constexpr std::uint64_t kMostSteps = 200'000;  // more is a loop that nobody ends

// For `addr2line -e test_schedules`.
std::string place_of(const void* code) {
  Dl_info found{};
  dladdr(code, &found);
  return fmt::format("{:#x}", std::uintptr_t(code) - std::uintptr_t(found.dli_fbase));
}

// Whether it is on the stack of the thread that calls first, which sets up.
bool is_of_setting_up(const void* at) noexcept {
  struct Stack {
    Stack() noexcept {
      pthread_attr_t attributes;
      pthread_getattr_np(pthread_self(), &attributes);
      pthread_attr_getstack(&attributes, &base, &bytes);
      pthread_attr_destroy(&attributes);
    }
    void* base = nullptr;
    std::size_t bytes = 0;
  };
  static const Stack stack;
  return std::uintptr_t(at) - std::uintptr_t(stack.base) < stack.bytes;
}

}  // namespace

Schedule* Schedule::current() noexcept { return g_run; }

std::size_t Schedule::here() const noexcept { return t_index; }

void Schedule::expect(bool holds, std::string_view what) {
  const Unwatched unwatched;
  if (!holds && failure_.empty()) failure_ = what;
}

void Schedule::start() {
  const std::size_t count = bodies_.size();
  workers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    clocks_[i] = clocks_[kMostThreads];
    clocks_[i][i] = 1;
  }
  is_of_setting_up(this);
  g_watch.forget_all();
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
  t_at_once = false;
  const Unwatched unwatched;
  std::unique_lock lock(mutex_);
  workers_[index].ended = true;
  hand_over(lock, false);
  if (all_ended()) turn_changed_[kMostThreads].notify_one();
  turn_changed_[index].wait(lock, [&] { return workers_[index].may_leave; });
  t_index = kMostThreads;
}

void Schedule::step() {
  if (t_index == kMostThreads || t_at_once) return;  // before or after the threads
  const Unwatched unwatched;
  std::unique_lock lock(mutex_);
  hand_over(lock, true);
}

void Schedule::at_once_to_barrier() noexcept { t_at_once = true; }

void Schedule::barrier() {
  t_at_once = false;
  step();
  const Unwatched here;
  Clock all{};
  for (const Clock& each : clocks_) join(all, each);
  for (std::size_t i = 0; i < kMostThreads; ++i) {
    clocks_[i] = all;
    ++clocks_[i][i];
  }
}

void Schedule::fence() {
  if (!is_under_way()) return;
  step();
  const Unwatched unwatched;
  join(fenced_, clock());
  ++clock()[here()];
  fences_[here()] = {fenced_, stored_};
}

// ---- atomics and locks

Stores& Schedule::stores_of(const void* atomic, std::uint64_t now) {
  Stores& stores = stores_[atomic];
  stores.begin(now);
  return stores;
}

std::uint64_t Schedule::load(const void* of, std::uint64_t now, std::memory_order order,
                             const std::source_location& at) {
  const Unwatched unwatched;
  order = order_at(order, at);
  Stores& stores = stores_of(of, now);
  Clock known = clock();
  join(known, is_total(order) ? fenced_ : fences_[here()].known);
  const std::uint64_t total_below = is_total(order) ? stored_ : fences_[here()].stored;
  const std::size_t most = stores.most_behind(here(), known, total_below);
  const Store& read = stores.read(here(), most == 0 ? 0 : strategy_.behind(most));
  if (acquires(order)) join(clock(), read.released);
  return read.value;
}

void Schedule::store(const void* of, std::uint64_t now, std::uint64_t value,
                     std::memory_order order, const std::source_location& at) {
  const Unwatched unwatched;
  add(stores_of(of, now), value, order_at(order, at), {});
}

// What is stored by a change passes on what the store before it did.
void Schedule::exchange(const void* of, std::uint64_t now, std::uint64_t value,
                        std::memory_order order, const std::source_location& at) {
  const Unwatched unwatched;
  order = order_at(order, at);
  Stores& stores = stores_of(of, now);
  const Clock passed_on = stores.last().released;
  if (acquires(order)) join(clock(), passed_on);
  add(stores, value, order, passed_on);
}

void Schedule::look(const void* of, std::uint64_t now, std::memory_order order,
                    const std::source_location& at) {
  const Unwatched unwatched;
  const Store& read = stores_of(of, now).read(here(), 0);
  if (acquires(order_at(order, at))) join(clock(), read.released);
}

void Schedule::add(Stores& to, std::uint64_t value, std::memory_order order, Clock passed_on) {
  if (releases(order)) join(passed_on, clock());
  to.add({value, here(), clock()[here()], is_total(order), passed_on, stored_++});
  if (releases(order)) ++clock()[here()];
}

void Schedule::takes(const void* lock) {
  const Unwatched unwatched;
  join(clock(), released_[lock]);
}

void Schedule::gives_back(const void* lock) {
  const Unwatched unwatched;
  join(released_[lock], clock());
  ++clock()[here()];
}

// ---- ordinary memory

void Schedule::used(const void* at, std::size_t bytes, bool writes, bool atomic, const void* code) {
  if (!watches_ || t_unwatched || !is_under_way() || is_of_setting_up(at)) return;
  if (!failure_.empty()) return;
  const Unwatched unwatched;
  if (const auto before = g_watch.use(at, bytes, {here(), writes, atomic, code}, clock())) {
    expect(false, fmt::format("memory is used before it was passed on: {}, before by {}",
                              place_of(code), place_of(*before)));
  }
}

void Schedule::forget(const void* at, std::size_t bytes) {
  if (t_unwatched || !is_under_way()) return;
  const Unwatched unwatched;
  g_watch.forget(at, bytes);
  stores_.erase(stores_.lower_bound(at),
                stores_.lower_bound(static_cast<const std::byte*>(at) + bytes));
}

void Schedule::until(const std::function<bool()>& holds) {
  if (t_index == kMostThreads) return expect(holds(), "waits when all have ended");
  const Unwatched unwatched;
  std::unique_lock lock(mutex_);
  wait_here(lock, holds);
}

void Schedule::pause() {
  if (t_index == kMostThreads) return;
  const Unwatched unwatched;
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
  Exhaustive strategy(preemptions, old_values);
  return explore(strategy, scenario);
}

bool Explorer::some(std::size_t depth, std::uint64_t seed, const Scenario& scenario) {
  Priorities strategy(depth, seed, old_values);
  return explore(strategy, scenario);
}

bool Explorer::explore(Strategy& strategy, const Scenario& scenario) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(seconds));
  complete_ = false;
  while (std::chrono::steady_clock::now() < until) {
    Schedule run(strategy);
    if (schedules_ > 0) run.watch();
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
