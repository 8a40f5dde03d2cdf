// float32 reductions of dense runs with vectors.
#pragma once

#include <cstdint>

namespace ebb::cpu {

struct FloatReductions {
  float (*sum)(const float* x, std::int64_t count);
  float (*max)(const float* x, std::int64_t count);  // count > 0; NaN wins
  float (*min)(const float* x, std::int64_t count);
  // to[i] op= x[i]
  void (*add_to)(const float* x, float* to, std::int64_t count);
  // The same in float64, for means: of up to 2^29 equal numbers it is that number.
  double (*wide_sum)(const float* x, std::int64_t count);
  void (*wide_add_to)(const float* x, double* to, std::int64_t count);
};

// Those for this processor.
const FloatReductions& float_reductions();

}  // namespace ebb::cpu
