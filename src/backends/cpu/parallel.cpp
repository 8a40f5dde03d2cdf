#include "backends/cpu/parallel.hpp"

#include <algorithm>

#include "backends/cpu/items.hpp"
#include "backends/cpu/shared_loop.hpp"
#include "backends/cpu/shift.hpp"
#include "backends/cpu/team.hpp"
#include "backends/cpu/wake.hpp"

namespace ebb::cpu {
namespace {

struct Loop {
  std::int64_t count;
  const FunctionRef<void(std::int64_t, std::int64_t)>& body;
};

void run_part(void* data) {
  const Loop& loop = *static_cast<const Loop*>(data);
  const Team::Part part = Team::part();
  const Items items = items_of(loop.count, part.index, part.count);
  if (items.begin < items.end) loop.body(items.begin, items.end);
}

// ---- what waking the team costs

constexpr double kMostPatience = 8;
// Below it an item is no element but a row, an image: how much work it is, nobody knows here.
constexpr std::int64_t kLeastOfElements = 1024;

// By how much the work of a loop over elements must exceed its grain to be worth the team: more than
// 1 where a sleeping thread takes long to wake. The grains were found where it takes kUsualWake, about half of a grain's work.
double patience() { return std::min(wake_microseconds() / kUsualWake, kMostPatience); }

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

void parallel_apart(std::int64_t count, std::int64_t grain,
                    FunctionRef<void(std::int64_t, std::int64_t)> body) {
  const bool is_worth_sharing = Shift::is_on() && count >= 2 * grain;
  if (is_worth_sharing) Shift::count_own_loop();
  if (!is_worth_sharing || !Shift::has_crew()) return body(0, count);
  const std::int64_t parts = std::min<std::int64_t>(Shift::threads(), count / grain);
  Shift::run_apart(count, static_cast<int>(parts), body);
}

}  // namespace ebb::cpu
