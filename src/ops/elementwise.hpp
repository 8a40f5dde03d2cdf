// The loops of elementwise operations over their operands.
#pragma once

#include "ops/copy_plan.hpp"
#include "ops/op_call.hpp"
#include "ops/params/elementwise.hpp"

namespace ebb::ops {

// `steps`: of each operand along each axis of the output.
template <std::size_t K>
Loops<K> loops_along(const Shape& out, const std::array<Strides, K>& steps) noexcept;
BinaryLoops binary_loops(const Operand& a, const Operand& b, const Shape& out) noexcept;

}  // namespace ebb::ops
