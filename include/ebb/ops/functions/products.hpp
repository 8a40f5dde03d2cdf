// Matrix products as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp products` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct BatchMatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
inline Tensor batch_mat_mul(const Tensor& a, const Tensor& b,
                            const BatchMatMulOptions& options = {}) {
  return apply_one(op_id("BatchMatMul"), {&a, &b},
                   detail::Flat(options.transpose_a, options.transpose_b).values());
}
struct FusedMatMulOptions {
  Tensor bias{};
  Tensor prelu_activation_weights{};
  bool transpose_a = false;
  bool transpose_b = false;
  Activation activation = Activation::kLinear;
  double leakyrelu_alpha = 0.2;
};
inline Tensor fused_mat_mul(const Tensor& a, const Tensor& b,
                            const FusedMatMulOptions& options = {}) {
  return apply_one(op_id("_FusedMatMul"),
                   {&a, &b, &options.bias, &options.prelu_activation_weights},
                   detail::Flat(options.transpose_a, options.transpose_b, options.activation,
                                options.leakyrelu_alpha)
                       .values());
}

}  // namespace ebb::ops
