#include "ebb/nn/convolution.hpp"

#include "ebb/base/checked.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

Dims kernel_dims(const ConvOptions& options, std::int64_t in, std::int64_t out) {
  if (options.size.size() != 2) {
    raise(ErrorKind::kInvalidArgument, "[nn::Conv2D] a size of {} numbers was given, 2 are allowed",
          options.size.size());
  }
  return {options.size[0], options.size[1], in, out};
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
    : kernel(options.initial(kernel_dims(options, in, out)), "kernel"),
      bias(zeros({out}), "bias"),
      options_(options) {}

Tensor Conv2D::operator()(const Tensor& x) {
  return ops::fused_conv2d(x, kernel, as_operation(options_, dims_of(x, 4, "Conv2D"), bias));
}

void Conv2D::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  if (options_.bias) parts.weight("bias", bias);
}

DepthwiseConv2D::DepthwiseConv2D(std::int64_t channels, const ConvOptions& options,
                                 std::int64_t multiplier)
    : kernel(options.initial(kernel_dims(options, channels, multiplier)), "depthwise_kernel"),
      bias(zeros({checked_mul(channels, multiplier)}), "bias"),
      options_(options) {}

Tensor DepthwiseConv2D::operator()(const Tensor& x) {
  const auto all = as_operation(options_, dims_of(x, 4, "DepthwiseConv2D"), bias);
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
