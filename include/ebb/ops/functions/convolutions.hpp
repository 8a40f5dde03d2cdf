// Convolutions as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp convolutions` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct Conv2DOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
  bool channels_first = false;
};
inline Tensor conv2d(const Tensor& x, const Tensor& filter, const Conv2DOptions& options = {}) {
  return apply_one(op_id("Conv2D"), {&x, &filter},
                   detail::Flat(options.strides, options.pads, options.dilations,
                                options.output_size, options.channels_first)
                       .values());
}
struct FusedConv2DOptions {
  Tensor bias{};
  Tensor prelu_activation_weights{};
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
  bool channels_first = false;
  Activation activation = Activation::kLinear;
  double leakyrelu_alpha = 0.2;
};
inline Tensor fused_conv2d(const Tensor& x, const Tensor& filter,
                           const FusedConv2DOptions& options = {}) {
  return apply_one(
      op_id("FusedConv2D"), {&x, &filter, &options.bias, &options.prelu_activation_weights},
      detail::Flat(options.strides, options.pads, options.dilations, options.output_size,
                   options.channels_first, options.activation, options.leakyrelu_alpha)
          .values());
}
struct Conv2DBackpropFilterOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  bool channels_first = false;
};
inline Tensor conv2d_backprop_filter(const Tensor& x, const Tensor& dy,
                                     const std::vector<std::int64_t>& filter_shape,
                                     const Conv2DBackpropFilterOptions& options = {}) {
  return apply_one(op_id("Conv2DBackpropFilter"), {&x, &dy},
                   detail::Flat(options.strides, options.pads, options.dilations,
                                options.channels_first, filter_shape)
                       .values());
}
struct Conv2DBackpropInputOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  bool channels_first = false;
};
inline Tensor conv2d_backprop_input(const Tensor& dy, const Tensor& filter,
                                    const std::vector<std::int64_t>& input_shape,
                                    const Conv2DBackpropInputOptions& options = {}) {
  return apply_one(op_id("Conv2DBackpropInput"), {&dy, &filter},
                   detail::Flat(options.strides, options.pads, options.dilations,
                                options.channels_first, input_shape)
                       .values());
}
struct DepthwiseConv2dNativeOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
  bool channels_first = false;
};
inline Tensor depthwise_conv2d_native(const Tensor& x, const Tensor& filter,
                                      const DepthwiseConv2dNativeOptions& options = {}) {
  return apply_one(op_id("DepthwiseConv2dNative"), {&x, &filter},
                   detail::Flat(options.strides, options.pads, options.dilations,
                                options.output_size, options.channels_first)
                       .values());
}
struct FusedDepthwiseConv2DOptions {
  Tensor bias{};
  Tensor prelu_activation_weights{};
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
  std::vector<std::int64_t> output_size = {};
  bool channels_first = false;
  Activation activation = Activation::kLinear;
  double leakyrelu_alpha = 0.2;
};
inline Tensor fused_depthwise_conv2d(const Tensor& x, const Tensor& filter,
                                     const FusedDepthwiseConv2DOptions& options = {}) {
  return apply_one(
      op_id("FusedDepthwiseConv2D"),
      {&x, &filter, &options.bias, &options.prelu_activation_weights},
      detail::Flat(options.strides, options.pads, options.dilations, options.output_size,
                   options.channels_first, options.activation, options.leakyrelu_alpha)
          .values());
}
struct DepthwiseConv2dNativeBackpropFilterOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor depthwise_conv2d_native_backprop_filter(
    const Tensor& x, const Tensor& dy, const std::vector<std::int64_t>& filter_shape,
    const DepthwiseConv2dNativeBackpropFilterOptions& options = {}) {
  return apply_one(
      op_id("DepthwiseConv2dNativeBackpropFilter"), {&x, &dy},
      detail::Flat(options.strides, options.pads, options.dilations, filter_shape).values());
}
struct DepthwiseConv2dNativeBackpropInputOptions {
  std::vector<std::int64_t> strides = {1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1};
};
inline Tensor depthwise_conv2d_native_backprop_input(
    const Tensor& dy, const Tensor& filter, const std::vector<std::int64_t>& input_shape,
    const DepthwiseConv2dNativeBackpropInputOptions& options = {}) {
  return apply_one(
      op_id("DepthwiseConv2dNativeBackpropInput"), {&dy, &filter},
      detail::Flat(options.strides, options.pads, options.dilations, input_shape).values());
}
struct Conv3DOptions {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
  std::vector<std::int64_t> output_size = {};
};
inline Tensor conv3d(const Tensor& x, const Tensor& filter, const Conv3DOptions& options = {}) {
  return apply_one(
      op_id("Conv3D"), {&x, &filter},
      detail::Flat(options.strides, options.pads, options.dilations, options.output_size).values());
}
struct Conv3DBackpropFilterV2Options {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
};
inline Tensor conv3d_backprop_filter_v2(const Tensor& x, const Tensor& dy,
                                        const std::vector<std::int64_t>& filter_shape,
                                        const Conv3DBackpropFilterV2Options& options = {}) {
  return apply_one(
      op_id("Conv3DBackpropFilterV2"), {&x, &dy},
      detail::Flat(options.strides, options.pads, options.dilations, filter_shape).values());
}
struct Conv3DBackpropInputV2Options {
  std::vector<std::int64_t> strides = {1, 1, 1};
  std::vector<std::int64_t> pads = {0, 0, 0, 0, 0, 0};
  std::vector<std::int64_t> dilations = {1, 1, 1};
};
inline Tensor conv3d_backprop_input_v2(const Tensor& dy, const Tensor& filter,
                                       const std::vector<std::int64_t>& input_shape,
                                       const Conv3DBackpropInputV2Options& options = {}) {
  return apply_one(
      op_id("Conv3DBackpropInputV2"), {&dy, &filter},
      detail::Flat(options.strides, options.pads, options.dilations, input_shape).values());
}

}  // namespace ebb::ops
