// What the meaning of elementwise operations works out for their kernels.
#pragma once

#include "ops/copy_plan.hpp"
#include "ops/op_call.hpp"

namespace ebb::ops {

// K operands walked along a dense output: axes that all of them walk alike are one axis. The last
// axis is the inner one; a step is 0 where the operand is broadcast along it, 1 along the rows of a
// dense operand, anything along those of a strided one.
template <std::size_t K>
struct Walk {
  std::size_t axes = 1;
  std::array<std::int64_t, kMaxRank> extent{};
  std::array<Strides, K> step{};  // in elements
};
using BinaryWalk = Walk<2>;

// `steps`: of each operand along each axis of the output.
template <std::size_t K>
Walk<K> walk_along(const Shape& out, const std::array<Strides, K>& steps) noexcept;
BinaryWalk binary_walk(const Operand& a, const Operand& b, const Shape& out) noexcept;

// Binary operations and Select leave a Walk for each call; those with one operand only where that
// is strided.

}  // namespace ebb::ops
