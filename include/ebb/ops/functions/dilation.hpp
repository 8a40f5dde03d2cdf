// Grayscale dilation as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp dilation` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct Dilation2DOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor dilation2d(const Tensor& x, const Tensor& filter,
                         const Dilation2DOptions& options = {}) {
  return apply_one(
      op_id("Dilation2D"), {&x, &filter},
      detail::Flat(options.strides, options.pads, options.dilations, options.output_size).values());
}
struct Dilation2DBackpropFilterOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor dilation2d_backprop_filter(const Tensor& x, const Tensor& filter, const Tensor& dy,
                                         const Dilation2DBackpropFilterOptions& options = {}) {
  return apply_one(op_id("Dilation2DBackpropFilter"), {&x, &filter, &dy},
                   detail::Flat(options.strides, options.pads, options.dilations).values());
}
struct Dilation2DBackpropInputOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor dilation2d_backprop_input(const Tensor& x, const Tensor& filter, const Tensor& dy,
                                        const Dilation2DBackpropInputOptions& options = {}) {
  return apply_one(op_id("Dilation2DBackpropInput"), {&x, &filter, &dy},
                   detail::Flat(options.strides, options.pads, options.dilations).values());
}

}  // namespace ebb::ops
