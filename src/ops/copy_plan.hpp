// What copy plans are made of.
#pragma once

#include "ebb/tensor/context.hpp"
#include "ops/params/copy_plan.hpp"

namespace ebb::ops {

// How the operand lies, dense or not.
inline Strides strides_of(const Operand& x) noexcept {
  return x.dense ? dense_strides(x.shape) : x.strides;
}

}  // namespace ebb::ops
