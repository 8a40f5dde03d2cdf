// Tensors made of numbers, constant or random as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp creation` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor fill(const std::vector<std::int64_t>& shape, double value, DType dtype) {
  return apply_one(op_id("Fill"), {}, detail::Flat(shape, value, dtype).values());
}
inline Tensor lin_space(double start, double stop, std::int64_t num) {
  return apply_one(op_id("LinSpace"), {}, detail::Flat(start, stop, num).values());
}
struct RangeOptions {
  double step = 1;
  DType dtype = DType::kFloat32;
};
inline Tensor range(double start, double stop, const RangeOptions& options = {}) {
  return apply_one(op_id("Range"), {},
                   detail::Flat(start, stop, options.step, options.dtype).values());
}
struct OneHotOptions {
  double on_value = 1;
  double off_value = 0;
  DType dtype = DType::kInt32;
};
inline Tensor one_hot(const Tensor& indices, std::int64_t depth,
                      const OneHotOptions& options = {}) {
  return apply_one(
      op_id("OneHot"), {&indices},
      detail::Flat(depth, options.on_value, options.off_value, options.dtype).values());
}
inline Tensor ones_like(const Tensor& x) { return apply_one(op_id("OnesLike"), {&x}, {}); }
inline Tensor zeros_like(const Tensor& x) { return apply_one(op_id("ZerosLike"), {&x}, {}); }
struct EyeOptions {
  DType dtype = DType::kFloat32;
};
inline Tensor eye(std::int64_t rows, std::int64_t columns, const EyeOptions& options = {}) {
  return apply_one(op_id("Eye"), {}, detail::Flat(rows, columns, options.dtype).values());
}
struct RandomUniformOptions {
  double low = 0;
  double high = 1;
  DType dtype = DType::kFloat32;
  double seed = 0;
};
inline Tensor random_uniform(const std::vector<std::int64_t>& shape,
                             const RandomUniformOptions& options = {}) {
  return apply_one(
      op_id("RandomUniform"), {},
      detail::Flat(shape, options.low, options.high, options.dtype, options.seed).values());
}
struct RandomNormalOptions {
  double mean = 0;
  double standard_deviation = 1;
  DType dtype = DType::kFloat32;
  bool truncated = false;
  double seed = 0;
};
inline Tensor random_normal(const std::vector<std::int64_t>& shape,
                            const RandomNormalOptions& options = {}) {
  return apply_one(op_id("RandomNormal"), {},
                   detail::Flat(shape, options.mean, options.standard_deviation, options.dtype,
                                options.truncated, options.seed)
                       .values());
}
struct MultinomialOptions {
  double seed = 0;
  bool normalized = false;
};
inline Tensor multinomial(const Tensor& logits, std::int64_t num_samples,
                          const MultinomialOptions& options = {}) {
  return apply_one(op_id("Multinomial"), {&logits},
                   detail::Flat(num_samples, options.seed, options.normalized).values());
}
inline Tensor complex(const Tensor& real, const Tensor& imag) {
  return apply_one(op_id("Complex"), {&real, &imag}, {});
}

}  // namespace ebb::ops
