// What the meaning of non-maximum suppression works out for its kernel.
#pragma once

#include <cstdint>

namespace ebb::ops {

struct SuppressionParams {
  std::int64_t boxes = 0;
  std::int64_t most = 0;  // boxes to select
  double overlap = 0;     // from which on a box is suppressed
  double score = 0;       // below which no box is selected
  double sigma = 0;       // 0: overlapping boxes keep their score
  bool pad = false;
};

}  // namespace ebb::ops
