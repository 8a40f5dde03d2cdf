#include "backends/cpu/parallel.hpp"

#include <omp.h>

#include <algorithm>

namespace ebb::cpu {

int team_size() noexcept { return omp_get_max_threads(); }

void parallel_for(std::int64_t count, std::int64_t grain,
                  FunctionRef<void(std::int64_t, std::int64_t)> body) {
  const std::int64_t parts =
      count <= grain ? 1 : std::min<std::int64_t>(team_size(), (count + grain - 1) / grain);
  if (parts <= 1 || omp_in_parallel() != 0) {
    if (count > 0) body(0, count);
    return;
  }
  const std::int64_t share = (count + parts - 1) / parts;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t begin = part * share;
    const std::int64_t end = std::min(count, begin + share);
    if (begin < end) body(begin, end);
  }
}

}  // namespace ebb::cpu
