// What the meaning of elementwise operations works out for their kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/base/shape.hpp"

namespace ebb::ops {

// K operands walked along a dense output: axes that all of them walk alike are one axis. The last
// axis is the inner one; a step is 0 where the operand is broadcast along it, 1 along the rows of a
// dense operand, anything along those of a strided one.
//
// Binary operations and Select leave a Walk for each call; those with one operand only where that
// is strided.
template <std::size_t K>
struct Walk {
  std::size_t axes = 1;
  std::array<std::int64_t, kMaxRank> extent{};
  std::array<std::array<std::int64_t, kMaxRank>, K> step{};  // in elements
};
using BinaryWalk = Walk<2>;

}  // namespace ebb::ops
