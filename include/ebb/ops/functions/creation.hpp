// Tensors made of numbers, constant or random as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp creation` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
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
inline Tensor range(double start, double stop, double step, DType dtype) {
  return apply_one(op_id("Range"), {}, detail::Flat(start, stop, step, dtype).values());
}
inline Tensor one_hot(const Tensor& a, std::int64_t depth, double on_value, double off_value,
                      DType dtype) {
  return apply_one(op_id("OneHot"), {&a}, detail::Flat(depth, on_value, off_value, dtype).values());
}
inline Tensor ones_like(const Tensor& a) { return apply_one(op_id("OnesLike"), {&a}, {}); }
inline Tensor zeros_like(const Tensor& a) { return apply_one(op_id("ZerosLike"), {&a}, {}); }
inline Tensor eye(std::int64_t rows, std::int64_t columns, DType dtype) {
  return apply_one(op_id("Eye"), {}, detail::Flat(rows, columns, dtype).values());
}
inline Tensor random_uniform(const std::vector<std::int64_t>& shape, double low, double high,
                             DType dtype, double seed) {
  return apply_one(op_id("RandomUniform"), {},
                   detail::Flat(shape, low, high, dtype, seed).values());
}
inline Tensor random_normal(const std::vector<std::int64_t>& shape, double mean,
                            double standard_deviation, DType dtype, bool truncated, double seed) {
  return apply_one(op_id("RandomNormal"), {},
                   detail::Flat(shape, mean, standard_deviation, dtype, truncated, seed).values());
}
inline Tensor multinomial(const Tensor& a, std::int64_t num_samples, double seed, bool normalized) {
  return apply_one(op_id("Multinomial"), {&a},
                   detail::Flat(num_samples, seed, normalized).values());
}
inline Tensor complex(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Complex"), {&a, &b}, {});
}

}  // namespace ebb::ops
