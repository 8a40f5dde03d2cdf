#include "ebb/nn/convolution.hpp"

#include "ebb/base/checked.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

// Checked before there is a kernel.
Tensor initial_kernel(const ConvOptions& options, std::int64_t in, std::int64_t out,
                      std::string_view layer) {
  check_window(options.size, "sizes", layer);
  check_window(options.strides, "strides", layer);
  check_window(options.dilations, "dilations", layer);
  return initial_value(options.initial, {options.size[0], options.size[1], in, out}, layer);
}

ops::FusedConv2DOptions as_operation(const ConvOptions& options, const Dims& image,
                                     const Variable& bias) {
  return {.bias = options.bias ? bias.value() : Tensor(),
          .strides = options.strides,
          .pads = pads_of(options.padding, image, options.size, options.strides, options.dilations),
          .dilations = options.dilations,
          .activation = options.activation};
}

}  // namespace

Conv2D::Conv2D(std::int64_t in, std::int64_t out, const ConvOptions& options)
    : kernel(initial_kernel(options, in, out, "Conv2D"), "kernel"),
      bias(zeros({out}), "bias"),
      channels_(in),
      options_(options) {}

Tensor Conv2D::operator()(const Tensor& x) {
  return ops::fused_conv2d(x, kernel,
                           as_operation(options_, image_dims(x, "Conv2D", channels_), bias));
}

void Conv2D::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  if (options_.bias) parts.weight("bias", bias);
}

DepthwiseConv2D::DepthwiseConv2D(std::int64_t channels, const ConvOptions& options,
                                 std::int64_t multiplier)
    : kernel(initial_kernel(options, channels, multiplier, "DepthwiseConv2D"), "depthwise_kernel"),
      bias(zeros({checked_mul(channels, multiplier)}), "bias"),
      channels_(channels),
      options_(options) {}

Tensor DepthwiseConv2D::operator()(const Tensor& x) {
  const auto all = as_operation(options_, image_dims(x, "DepthwiseConv2D", channels_), bias);
  return ops::fused_depthwise_conv2d(x, kernel,
                                     {.bias = all.bias,
                                      .strides = all.strides,
                                      .pads = all.pads,
                                      .dilations = all.dilations,
                                      .activation = all.activation});
}

void DepthwiseConv2D::parts(Parts& parts) {
  parts.weight("depthwise_kernel", kernel);
  if (options_.bias) parts.weight("bias", bias);
}

}  // namespace ebb::nn
