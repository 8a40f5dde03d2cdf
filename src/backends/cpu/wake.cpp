#include "backends/cpu/wake.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>

#include "backends/cpu/team.hpp"

namespace ebb::cpu {

#if defined(__SANITIZE_THREAD__)

double wake_microseconds() noexcept { return kUsualWake; }  // its threads are new for each loop

#else
namespace {

using Clock = std::chrono::steady_clock;

// Longer than a team spins, on any machine that was met.
constexpr std::chrono::microseconds kUntilAsleep{150};

struct Run {
  double microseconds;
  bool has_others;
};

Run run_empty(int threads) noexcept {
  int came = 1;
  const auto count = [](void* data) {
    const Team::Part part = Team::part();
    if (part.index == 0) *static_cast<int*>(data) = part.count;
  };
  const Clock::time_point start = Clock::now();
  Team::run(threads, count, &came);
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  return {took.count(), came > 1};
}

// The second least of a few: others use the cores too, and one run may find the team awake. Limits of OpenMP's that
// Team::available does not know of leave a run its caller alone, which tells nothing.
double time_to_wake(int threads) noexcept {
  constexpr double kNone = std::numeric_limits<double>::max();
  double least = kNone, second = kNone;
  for (int i = 0; i < 5; ++i) {
    if (!run_empty(threads).has_others) continue;
    const Clock::time_point asleep = Clock::now() + kUntilAsleep;
    while (Clock::now() < asleep) {
    }
    const Run run = run_empty(threads);
    if (!run.has_others) continue;
    second = std::min(second, std::max(least, run.microseconds));
    least = std::min(least, run.microseconds);
  }
  return second == kNone ? kUsualWake : std::max(second, kUsualWake);
}

// 0: not measured yet. Two threads may measure at once, of which the first counts; no lock, which a fork might find taken.
std::atomic<double> measured{0};

}  // namespace

double wake_microseconds() noexcept {
  const int threads = Team::available();
  if (threads < 2) return kUsualWake;
  double known = measured.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const double now = time_to_wake(threads);
  return measured.compare_exchange_strong(known, now, std::memory_order_relaxed) ? now : known;
}
#endif

}  // namespace ebb::cpu
