// Normalisations as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp normalisation` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct FusedBatchNormOptions {
  Tensor offset{};
  Tensor scale{};
  double variance_epsilon = 0.001;
};
inline Tensor fused_batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                               const FusedBatchNormOptions& options = {}) {
  return apply_one(op_id("FusedBatchNorm"), {&x, &mean, &variance, &options.offset, &options.scale},
                   detail::Flat(options.variance_epsilon).values());
}
struct LRNOptions {
  std::int64_t depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
inline Tensor lrn(const Tensor& x, const LRNOptions& options = {}) {
  return apply_one(
      op_id("LRN"), {&x},
      detail::Flat(options.depth_radius, options.bias, options.alpha, options.beta).values());
}
struct LRNGradOptions {
  std::int64_t depth_radius = 5;
  double bias = 1;
  double alpha = 1;
  double beta = 0.5;
};
inline Tensor lrn_grad(const Tensor& x, const Tensor& y, const Tensor& dy,
                       const LRNGradOptions& options = {}) {
  return apply_one(
      op_id("LRNGrad"), {&x, &y, &dy},
      detail::Flat(options.depth_radius, options.bias, options.alpha, options.beta).values());
}
struct SoftmaxOptions {
  std::int64_t dim = -1;
};
inline Tensor softmax(const Tensor& logits, const SoftmaxOptions& options = {}) {
  return apply_one(op_id("Softmax"), {&logits}, detail::Flat(options.dim).values());
}
struct LogSoftmaxOptions {
  std::int64_t axis = -1;
};
inline Tensor log_softmax(const Tensor& logits, const LogSoftmaxOptions& options = {}) {
  return apply_one(op_id("LogSoftmax"), {&logits}, detail::Flat(options.axis).values());
}

}  // namespace ebb::ops
