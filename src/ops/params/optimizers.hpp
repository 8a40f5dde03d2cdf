// Adam's update: where a call has what, and its numbers.
//
// An element's update, each step rounded to float32 (TensorFlow.js's order):
//   first  = first * beta1 + gradient * (1 - beta1)
//   second = second * beta2 + gradient^2 * (1 - beta2)
//   value  = first / (1 - power1) / (sqrt(second / (1 - power2)) + epsilon) * -rate + value
#pragma once

#include <cstddef>

namespace ebb::ops {

inline constexpr std::size_t kAdamScalars = 2;  // inputs, and outputs, before the variables'
inline constexpr std::size_t kAdamInputs = 4;   // of a variable
inline constexpr std::size_t kAdamOutputs = 3;

struct AdamParams {
  std::size_t variables;
  float beta1, rest1;  // 1 - beta1, taken before it is rounded
  float beta2, rest2;
  float epsilon;
  float negative_rate;
};

}  // namespace ebb::ops
