// Strided copies and fills.
#pragma once

#include "ebb/base/dtype.hpp"
#include "ops/copy_plan.hpp"

namespace ebb::cpu {

// Pre: the plan is simplified, and `to` overlaps `from` nowhere.
void copy(const ops::CopyPlan& plan, std::size_t element_size, const std::byte* from,
          std::byte* to);

// The elements of an operand, dense and in row-major order.
void pack(const Operand& from, std::byte* to);

// `count` elements of the dtype become `value`, converted.
void fill(DType dtype, std::byte* to, std::int64_t count, double value);

}  // namespace ebb::cpu
