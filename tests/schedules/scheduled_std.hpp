// Included in front of every file that runs under the scheduler: from here on std::atomic, mutexes,
// pauses and the steady clock are the scheduler's. What the standard library and the others' headers
// say themselves is read before, with the usual ones.
#pragma once

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#if defined(EBB_SCHEDULED_TEST)
#include <gtest/gtest.h>

#include "support/seed.hpp"
#endif

#include "schedules/scheduled_atomic.hpp"
#include "schedules/scheduler.hpp"

namespace ebb::schedules {

class Mutex : public Lock {};

// Whoever waits looks again after the others' next steps; so a notice needs nothing.
class Condition {
 public:
  template <typename Held, typename Holds>
  void wait(Held& lock, Holds holds) {
    while (!holds()) {
      lock.unlock();
      pause();
      lock.lock();
    }
  }
  template <typename Held, typename Duration>
  void wait_for(Held& lock, Duration nap) {
    lock.unlock();
    pass(std::chrono::duration_cast<std::chrono::nanoseconds>(nap).count());
    pause();
    lock.lock();
  }
  void notify_all() noexcept {}
  void notify_one() noexcept {}
};

// Time passes with each look and each nap, not with the machine's.
struct Steady {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Steady>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept { return time_point(duration(pass(100))); }
};

namespace this_thread_of {

inline std::thread::id get_id() noexcept { return std::this_thread::get_id(); }
inline void yield() noexcept { pause(); }
template <typename Duration>
void sleep_for(Duration nap) {
  pass(std::chrono::duration_cast<std::chrono::nanoseconds>(nap).count());
  pause();
}

}  // namespace this_thread_of
}  // namespace ebb::schedules

namespace ebb {
template <typename T>
using scheduled_atomic = atomic<T>;
}

namespace std {  // NOLINT: the names that the sources use
template <typename T>
using scheduled_atomic = ebb::atomic<T>;
using scheduled_mutex = ebb::schedules::Mutex;
using scheduled_condition = ebb::schedules::Condition;
namespace scheduled_this_thread = ebb::schedules::this_thread_of;
namespace chrono {
using scheduled_steady = ebb::schedules::Steady;
}
}  // namespace std

#define atomic scheduled_atomic
#define mutex scheduled_mutex
#define condition_variable scheduled_condition
#define this_thread scheduled_this_thread
#define steady_clock scheduled_steady
