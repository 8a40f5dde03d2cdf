// What the meaning of data movement works out for its kernels.
#pragma once

#include <array>
#include <cstdint>

#include "ops/params/copy_plan.hpp"

namespace ebb::ops {

// The output is filled with `value` first where the copy does not cover it.
struct MoveParams {
  CopyPlan plan{};
  bool fills = false;
  double value = 0;
};

// Two copies with a dense tensor between them.
struct TwoMovesParams {
  CopyPlan first{}, second{};
  std::int64_t between = 0;  // elements
  bool fills_between = false;
};

// Inputs one after the other along an axis, or an input cut up: `outer` times `run[i]` elements.
struct JoinParams {
  std::int64_t outer = 1;
  std::int64_t inner = 1;  // elements of one position along the axis
};

// For each axis: padding before, and whether the edge is repeated.
struct MirrorParams {
  std::array<std::int64_t, kMaxRank> before{};
  bool symmetric = false;
};

}  // namespace ebb::ops
