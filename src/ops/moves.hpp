// What operations that move data have in common.
#pragma once

#include "ops/copy_plan.hpp"
#include "ops/op_call.hpp"

namespace ebb::ops {

// The result is the first input's elements, copied as planned.
void move(OpCall& call, const Shape& shape, const CopyPlan& plan);
// The operand's own memory seen in another way, where that is worth it; else a copy. The plan has
// the axes of the shape, in elements of the dtype.
void view_or_move(OpCall& call, DType dtype, const Shape& shape, const CopyPlan& plan);
// The result is the first input, backwards along these axes.
void reverse_axes(OpCall& call, const IntList& axes);

// An attribute with so many values for each axis of the first input.
IntList list_for_axes(OpCall& call, std::size_t attribute, std::size_t times = 1);

}  // namespace ebb::ops
