// How elementwise operations walk their operands.
#pragma once

#include "ops/params/elementwise.hpp"

namespace ebb::ops {

BinaryWalk binary_walk(const Shape& a, const Shape& b, const Shape& out) noexcept;

}  // namespace ebb::ops
