// What the meaning of elementwise operations works out for their kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/base/shape.hpp"

namespace ebb::ops {

// Two operands walked along an output: axes that both walk alike are one axis. The last axis is the
// inner one; a step is 0 where the operand is broadcast along it.
struct BinaryWalk {
  std::size_t axes = 1;
  std::array<std::int64_t, kMaxRank> extent{};
  std::array<std::int64_t, kMaxRank> a_step{};  // in elements
  std::array<std::int64_t, kMaxRank> b_step{};
};

// condition, t and e are as long as the output, or one element; or each element of the condition is
// for `run` elements of the others.
struct SelectWalk {
  std::int64_t count = 0;
  std::int64_t run = 1;
  bool one_condition = false;
};

}  // namespace ebb::ops
