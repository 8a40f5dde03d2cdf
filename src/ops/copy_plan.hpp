// What copy plans are made of.
#pragma once

#include "ops/params/copy_plan.hpp"

namespace ebb::ops {

// In elements, of a dense tensor in row-major order.
std::array<std::int64_t, kMaxRank> dense_steps(const Shape& shape) noexcept;

}  // namespace ebb::ops
