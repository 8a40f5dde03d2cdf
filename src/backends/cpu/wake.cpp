#include "backends/cpu/wake.hpp"

#include <atomic>
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

// Nobody was asleep, or nobody came.
constexpr Microseconds kNoWaking{0.5};

// The least of a few, because others use the cores too; 0 where none of them tells.
double time_to_wake(int threads) noexcept {
  const auto nothing = [](void*) {};
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    Team::run(threads, nothing, nullptr);
    const Clock::time_point asleep = Clock::now() + kUntilAsleep;
    while (Clock::now() < asleep) {
    }
    const Clock::time_point start = Clock::now();
    Team::run(threads, nothing, nullptr);
    const Microseconds took = Clock::now() - start;
    if (took > kNoWaking && (least == 0 || took.count() < least)) least = took.count();
  }
  return least;
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
  if (now == 0) return kUsualWake;
  return measured.compare_exchange_strong(known, now, std::memory_order_relaxed) ? now : known;
}
#endif

}  // namespace ebb::cpu
