// One row times a matrix, both in the caches, as a layer does with a batch of one: what a call of
// oneDNN takes around its kernel is longer than the product. In a recorded program threads share its columns.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/epilogue.hpp"

namespace ebb::cpu {

struct RowProduct {
  const float* row;     // inner
  const float* matrix;  // inner x columns, row-major
  const float* bias;    // columns, or null
  float* out;           // columns
  std::int64_t inner;
  std::int64_t columns;
  Limits limits;  // of the sums with their bias
};

// Larger matrices are worth a team, or the blocks that oneDNN makes of them.
inline constexpr std::int64_t kRowProductElements = 1 << 17;

void multiply_row(const RowProduct& product);

}  // namespace ebb::cpu
