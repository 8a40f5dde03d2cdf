#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <chrono>

#include "backends/cpu/shared_loop.hpp"
#include "backends/cpu/shift.hpp"
#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

struct Loop {
  std::int64_t count;
  const FunctionRef<void(std::int64_t, std::int64_t)>& body;
};

void run_part(void* data) {
  const Loop& loop = *static_cast<const Loop*>(data);
  const Team::Part part = Team::part();
  const std::int64_t begin = loop.count * part.index / part.count;
  const std::int64_t end = loop.count * (part.index + 1) / part.count;
  if (begin < end) loop.body(begin, end);
}

// ---- what waking the team costs

using Clock = std::chrono::steady_clock;

// What the grains of loops over elements were found with: half of a grain's work takes about that.
constexpr std::chrono::duration<double, std::micro> kUsualWake{15};
constexpr double kMostPatience = 8;
// Longer than a team spins, on any machine that was met.
constexpr std::chrono::microseconds kUntilAsleep{150};
// Below it an item is no element but a row, an image: how much work it is, nobody knows here.
constexpr std::int64_t kLeastOfElements = 1024;

#if defined(__SANITIZE_THREAD__)
double patience() { return 1; }  // its threads are new for each loop
#else
// From asleep to the end of an empty loop; the least of a few, because others use the cores too.
Clock::duration time_to_wake(int threads) {
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

// By how much the work of a loop over elements must exceed its grain to be worth the team: more than
// 1 where a sleeping thread takes long to wake. Measured once in a process; takes about 1 ms.
double patience() {
  static const double measured = [] {
    const std::chrono::duration<double, std::micro> wake = time_to_wake(Team::available());
    return std::clamp(wake / kUsualWake, 1.0, kMostPatience);
  }();
  return measured;
}
#endif

bool is_worth_waking(std::int64_t count, std::int64_t grain) {
  return grain < kLeastOfElements ||
         static_cast<double>(count) > static_cast<double>(grain) * patience();
}

// False: there is no crew, or it is small work.
bool shared_with_crew(std::int64_t count, std::int64_t grain,
                      const FunctionRef<void(std::int64_t, std::int64_t)>& body) {
  const std::int64_t least = std::max<std::int64_t>(1, grain / Shift::kFiner);
  if (count <= least) return false;
  Shift::count_own_loop();
  if (!Shift::has_crew()) return false;
  const std::int64_t parts =
      std::min<std::int64_t>(Shift::kPartsForEach * Team::size(), (count + least - 1) / least);
  Shift::run(count, static_cast<int>(std::min<std::int64_t>(parts, SharedLoop::kMostParts)), body);
  return true;
}

}  // namespace

int team_size() noexcept { return Team::size(); }

void parallel_for(std::int64_t count, std::int64_t grain,
                  FunctionRef<void(std::int64_t, std::int64_t)> body) {
  if (Shift::is_on() && shared_with_crew(count, grain, body)) return;
  // The team is not even loaded for work that is not worth waking it.
  const std::int64_t parts =
      count <= grain ? 1 : std::min<std::int64_t>(Team::available(), (count + grain - 1) / grain);
  if (parts <= 1 || !is_worth_waking(count, grain)) {
    if (count > 0) body(0, count);
    return;
  }
  Loop loop{count, body};
  Team::run(static_cast<int>(parts), run_part, &loop);
}

}  // namespace ebb::cpu
