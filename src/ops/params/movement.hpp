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

// A tensor and the parts it is joined of, or cut into, along an axis of its own. `stacked`: the
// parts do not have that axis, each is one position along it.
struct PartsParams {
  std::size_t axis = 0;
  bool stacked = false;
};

// For each axis: padding before, and whether the edge is repeated.
struct MirrorParams {
  std::array<std::int64_t, kMaxRank> before{};
  bool symmetric = false;
};

}  // namespace ebb::ops
