// What the meaning of elementwise operations works out for their kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/base/shape.hpp"

namespace ebb::ops {

// Loops over a dense output and K operands: axes along which all of them go on alike are one axis. The last
// axis is the inner one; a step is 0 where the operand is broadcast along it, 1 along the rows of a
// dense operand, anything along those of a strided one.
//
// Binary operations and Select leave Loops for each call; those with one operand only where that
// is strided.
template <std::size_t K>
struct Loops {
  std::size_t axes = 1;
  std::array<std::int64_t, kMaxRank> extent{};
  std::array<std::array<std::int64_t, kMaxRank>, K> step{};  // in elements
};
using BinaryLoops = Loops<2>;

}  // namespace ebb::ops
