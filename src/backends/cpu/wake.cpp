#include "backends/cpu/wake.hpp"

#include <algorithm>
#include <chrono>

#include "backends/cpu/team.hpp"

namespace ebb::cpu {

#if defined(__SANITIZE_THREAD__)

double wake_microseconds() noexcept { return kUsualWake; }  // its threads are new for each loop

#else
namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

// Longer than a team spins, on any machine that was met.
constexpr std::chrono::microseconds kUntilAsleep{150};

// The least of a few, because others use the cores too.
Microseconds time_to_wake(int threads) noexcept {
  const auto nothing = [](void*) {};
  Clock::duration least = Clock::duration::max();
  for (int i = 0; i < 5; ++i) {
    Team::run(threads, nothing, nullptr);
    const Clock::time_point asleep = Clock::now() + kUntilAsleep;
    while (Clock::now() < asleep) {
    }
    const Clock::time_point start = Clock::now();
    Team::run(threads, nothing, nullptr);
    least = std::min(least, Clock::now() - start);
  }
  return least;
}

}  // namespace

double wake_microseconds() noexcept {
  const int threads = Team::available();
  if (threads < 2) return kUsualWake;
  static const double measured = time_to_wake(threads).count();
  return measured;
}
#endif

}  // namespace ebb::cpu
