// Poolings as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp pooling` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct AvgPoolOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor avg_pool(const Tensor& x, const std::vector<std::int64_t>& filter_size,
                       const AvgPoolOptions& options = {}) {
  return apply_one(op_id("AvgPool"), {&x},
                   detail::Flat(filter_size, options.strides, options.pads, options.dilations,
                                options.output_size)
                       .values());
}
struct AvgPoolGradOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor avg_pool_grad(const Tensor& dy, const Tensor& input,
                            const std::vector<std::int64_t>& filter_size,
                            const AvgPoolGradOptions& options = {}) {
  return apply_one(
      op_id("AvgPoolGrad"), {&dy, &input},
      detail::Flat(filter_size, options.strides, options.pads, options.dilations).values());
}
struct AvgPool3DOptions {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor avg_pool3d(const Tensor& x, const std::vector<std::int64_t>& filter_size,
                         const AvgPool3DOptions& options = {}) {
  return apply_one(op_id("AvgPool3D"), {&x},
                   detail::Flat(filter_size, options.strides, options.pads, options.dilations,
                                options.output_size)
                       .values());
}
struct AvgPool3DGradOptions {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
};
inline Tensor avg_pool3d_grad(const Tensor& dy, const Tensor& input,
                              const std::vector<std::int64_t>& filter_size,
                              const AvgPool3DGradOptions& options = {}) {
  return apply_one(
      op_id("AvgPool3DGrad"), {&dy, &input},
      detail::Flat(filter_size, options.strides, options.pads, options.dilations).values());
}
struct MaxPoolOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor max_pool(const Tensor& x, const std::vector<std::int64_t>& filter_size,
                       const MaxPoolOptions& options = {}) {
  return apply_one(op_id("MaxPool"), {&x},
                   detail::Flat(filter_size, options.strides, options.pads, options.dilations,
                                options.output_size)
                       .values());
}
struct MaxPoolGradOptions {
  Tensor output{};
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor max_pool_grad(const Tensor& dy, const Tensor& input,
                            const std::vector<std::int64_t>& filter_size,
                            const MaxPoolGradOptions& options = {}) {
  return apply_one(
      op_id("MaxPoolGrad"), {&dy, &input, &options.output},
      detail::Flat(filter_size, options.strides, options.pads, options.dilations).values());
}
struct MaxPool3DOptions {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor max_pool3d(const Tensor& x, const std::vector<std::int64_t>& filter_size,
                         const MaxPool3DOptions& options = {}) {
  return apply_one(op_id("MaxPool3D"), {&x},
                   detail::Flat(filter_size, options.strides, options.pads, options.dilations,
                                options.output_size)
                       .values());
}
struct MaxPool3DGradOptions {
  Tensor output{};
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
};
inline Tensor max_pool3d_grad(const Tensor& dy, const Tensor& input,
                              const std::vector<std::int64_t>& filter_size,
                              const MaxPool3DGradOptions& options = {}) {
  return apply_one(
      op_id("MaxPool3DGrad"), {&dy, &input, &options.output},
      detail::Flat(filter_size, options.strides, options.pads, options.dilations).values());
}
struct MaxPoolWithArgmaxOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
  bool include_batch_in_index = false;
};
inline std::vector<Tensor> max_pool_with_argmax(const Tensor& x,
                                                const std::vector<std::int64_t>& filter_size,
                                                const MaxPoolWithArgmaxOptions& options = {}) {
  return apply(op_id("MaxPoolWithArgmax"), detail::pointers(x),
               detail::Flat(filter_size, options.strides, options.pads, options.dilations,
                            options.output_size, options.include_batch_in_index)
                   .values());
}

}  // namespace ebb::ops
