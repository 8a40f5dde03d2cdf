// What the meaning of gathers and scatters works out for their kernels.
#pragma once

#include <array>
#include <cstdint>

#include "ebb/base/shape.hpp"

namespace ebb::ops {

// x as [batch, outer, extent, slice], indices as [batch, count]. Steps are in elements: from one
// position along the extent to the next, and from one position of batch and outer to the next.
struct GatherParams {
  std::int64_t batch = 1, outer = 1, extent = 1, slice = 1, count = 1;
  std::int64_t extent_step = 1, row_step = 1;
};

// Each of `count` index rows of `depth` coordinates names a slice of `slice` elements in a tensor
// whose first `depth` axes have these extents and steps (in slices).
struct NdParams {
  std::int64_t count = 0, depth = 0, slice = 1;
  std::array<std::int64_t, kMaxRank> extent{}, step{};
  bool one_update = false;  // one value for every index
};

}  // namespace ebb::ops
