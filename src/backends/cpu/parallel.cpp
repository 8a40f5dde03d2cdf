#include "backends/cpu/parallel.hpp"

#include <algorithm>

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

}  // namespace

int team_size() noexcept { return Team::size(); }

void parallel_for(std::int64_t count, std::int64_t grain,
                  FunctionRef<void(std::int64_t, std::int64_t)> body) {
  // The team is not even loaded for work that is not worth waking it.
  const std::int64_t parts =
      count <= grain ? 1 : std::min<std::int64_t>(Team::available(), (count + grain - 1) / grain);
  if (parts <= 1) {
    if (count > 0) body(0, count);
    return;
  }
  Loop loop{count, body};
  Team::run(static_cast<int>(parts), run_part, &loop);
}

}  // namespace ebb::cpu
