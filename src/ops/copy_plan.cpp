#include "ops/copy_plan.hpp"

namespace ebb::ops {

void CopyPlan::simplify() noexcept {
  if (elements() == 0) {  // its steps may be of a tensor whose extents cannot be multiplied
    axes = 0;
    add(0, 0, 0);
    from_offset = to_offset = 0;
    return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < axes; ++i) {
    if (extent[i] == 1) continue;
    const bool joins = kept > 0 && from_step[kept - 1] == saturating_mul(from_step[i], extent[i]) &&
                       to_step[kept - 1] == saturating_mul(to_step[i], extent[i]);
    if (joins) {
      extent[kept - 1] = saturating_mul(extent[kept - 1], extent[i]);
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
