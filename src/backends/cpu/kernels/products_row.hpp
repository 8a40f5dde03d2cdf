// One row times a matrix, both in the caches, as a layer does with a batch of one: what a call of
// oneDNN takes around its kernel is longer than the product.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ebb::cpu {

struct RowProduct {
  const float* row;     // inner
  const float* matrix;  // inner x columns, row-major
  const float* bias;    // columns, or null
  float* out;           // columns
  std::int64_t inner;
  std::int64_t columns;
};

// Larger matrices are worth a team, or the blocks that oneDNN makes of them.
inline constexpr std::int64_t kRowProductElements = 1 << 17;

void multiply_row(const RowProduct& product);

}  // namespace ebb::cpu
