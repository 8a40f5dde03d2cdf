#include "ops/copy_plan.hpp"

namespace ebb::ops {

void CopyPlan::simplify() noexcept {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < axes; ++i) {
    if (extent[i] == 1) continue;
    const bool joins = kept > 0 && from_step[kept - 1] == from_step[i] * extent[i] &&
                       to_step[kept - 1] == to_step[i] * extent[i];
    if (joins) {
      extent[kept - 1] *= extent[i];
      from_step[kept - 1] = from_step[i];
      to_step[kept - 1] = to_step[i];
    } else {
      extent[kept] = extent[i];
      from_step[kept] = from_step[i];
      to_step[kept++] = to_step[i];
    }
  }
  axes = kept;
}

}  // namespace ebb::ops
