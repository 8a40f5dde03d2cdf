// Operations that use the team and oneDNN, with known results.
#pragma once

#include <cmath>

#include "ebb/ops/functions.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::test {

inline bool all_are(const Tensor& tensor, float value) {
  for (const float each : tensor.to_vector<float>()) {
    if (std::abs(each - value) > 1e-4f * std::abs(value)) return false;
  }
  return true;
}

inline Tensor ones(const Shape& shape) {
  return tensor(std::vector<float>(static_cast<std::size_t>(shape.elements()), 1.0f), shape);
}

// Large enough for several threads.
inline bool adds() {
  const Tensor x = ones({1 << 20});
  return all_are(ops::add(x, x), 2);
}
inline bool multiplies() {
  return all_are(ops::batch_mat_mul(ones({256, 256}), ones({256, 256})), 256);
}
// 5x5: oneDNN's, where 3x3 would be Ebb's own.
inline bool convolves() {
  const Tensor made =
      ops::conv2d(ones({1, 32, 32, 16}), ones({5, 5, 16, 32}), {.output_size = {28, 28}});
  return all_are(made, 5 * 5 * 16);
}

}  // namespace ebb::test
