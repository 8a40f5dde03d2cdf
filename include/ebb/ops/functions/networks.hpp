// Products, convolutions, poolings, normalisations and optimizers as functions, in the table's
// order.
//
// Printed by `ebb_print_ops --cpp networks` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor batch_mat_mul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  return apply_one(op_id("BatchMatMul"), {&a, &b}, detail::Flat(transpose_a, transpose_b).values());
}
inline Tensor fused_mat_mul(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                            bool transpose_a, bool transpose_b, std::int64_t activation,
                            double leakyrelu_alpha) {
  return apply_one(op_id("_FusedMatMul"), {&a, &b, &c, &d},
                   detail::Flat(transpose_a, transpose_b, activation, leakyrelu_alpha).values());
}
inline Tensor conv2d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                     const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilations,
                     const std::vector<std::int64_t>& output_size, bool channels_first) {
  return apply_one(op_id("Conv2D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size, channels_first).values());
}
inline Tensor fused_conv2d(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                           const std::vector<std::int64_t>& strides,
                           const std::vector<std::int64_t>& pads,
                           const std::vector<std::int64_t>& dilations,
                           const std::vector<std::int64_t>& output_size, bool channels_first,
                           std::int64_t activation, double leakyrelu_alpha) {
  return apply_one(op_id("FusedConv2D"), {&a, &b, &c, &d},
                   detail::Flat(strides, pads, dilations, output_size, channels_first, activation,
                                leakyrelu_alpha)
                       .values());
}
inline Tensor conv2d_backprop_filter(const Tensor& a, const Tensor& b,
                                     const std::vector<std::int64_t>& strides,
                                     const std::vector<std::int64_t>& pads,
                                     const std::vector<std::int64_t>& dilations,
                                     bool channels_first,
                                     const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("Conv2DBackpropFilter"), {&a, &b},
                   detail::Flat(strides, pads, dilations, channels_first, filter_shape).values());
}
inline Tensor conv2d_backprop_input(const Tensor& a, const Tensor& b,
                                    const std::vector<std::int64_t>& strides,
                                    const std::vector<std::int64_t>& pads,
                                    const std::vector<std::int64_t>& dilations, bool channels_first,
                                    const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("Conv2DBackpropInput"), {&a, &b},
                   detail::Flat(strides, pads, dilations, channels_first, input_shape).values());
}
inline Tensor depthwise_conv2d_native(const Tensor& a, const Tensor& b,
                                      const std::vector<std::int64_t>& strides,
                                      const std::vector<std::int64_t>& pads,
                                      const std::vector<std::int64_t>& dilations,
                                      const std::vector<std::int64_t>& output_size,
                                      bool channels_first) {
  return apply_one(op_id("DepthwiseConv2dNative"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size, channels_first).values());
}
inline Tensor fused_depthwise_conv2d(const Tensor& a, const Tensor& b, const Tensor& c,
                                     const Tensor& d, const std::vector<std::int64_t>& strides,
                                     const std::vector<std::int64_t>& pads,
                                     const std::vector<std::int64_t>& dilations,
                                     const std::vector<std::int64_t>& output_size,
                                     bool channels_first, std::int64_t activation,
                                     double leakyrelu_alpha) {
  return apply_one(op_id("FusedDepthwiseConv2D"), {&a, &b, &c, &d},
                   detail::Flat(strides, pads, dilations, output_size, channels_first, activation,
                                leakyrelu_alpha)
                       .values());
}
inline Tensor depthwise_conv2d_native_backprop_filter(
    const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
    const std::vector<std::int64_t>& pads, const std::vector<std::int64_t>& dilations,
    const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("DepthwiseConv2dNativeBackpropFilter"), {&a, &b},
                   detail::Flat(strides, pads, dilations, filter_shape).values());
}
inline Tensor depthwise_conv2d_native_backprop_input(const Tensor& a, const Tensor& b,
                                                     const std::vector<std::int64_t>& strides,
                                                     const std::vector<std::int64_t>& pads,
                                                     const std::vector<std::int64_t>& dilations,
                                                     const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("DepthwiseConv2dNativeBackpropInput"), {&a, &b},
                   detail::Flat(strides, pads, dilations, input_shape).values());
}
inline Tensor conv3d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                     const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilations,
                     const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("Conv3D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size).values());
}
inline Tensor conv3d_backprop_filter_v2(const Tensor& a, const Tensor& b,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::int64_t>& pads,
                                        const std::vector<std::int64_t>& dilations,
                                        const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("Conv3DBackpropFilterV2"), {&a, &b},
                   detail::Flat(strides, pads, dilations, filter_shape).values());
}
inline Tensor conv3d_backprop_input_v2(const Tensor& a, const Tensor& b,
                                       const std::vector<std::int64_t>& strides,
                                       const std::vector<std::int64_t>& pads,
                                       const std::vector<std::int64_t>& dilations,
                                       const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("Conv3DBackpropInputV2"), {&a, &b},
                   detail::Flat(strides, pads, dilations, input_shape).values());
}
inline Tensor dilation2d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("Dilation2D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size).values());
}
inline Tensor dilation2d_backprop_filter(const Tensor& a, const Tensor& b, const Tensor& c,
                                         const std::vector<std::int64_t>& strides,
                                         const std::vector<std::int64_t>& pads,
                                         const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("Dilation2DBackpropFilter"), {&a, &b, &c},
                   detail::Flat(strides, pads, dilations).values());
}
inline Tensor dilation2d_backprop_input(const Tensor& a, const Tensor& b, const Tensor& c,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::int64_t>& pads,
                                        const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("Dilation2DBackpropInput"), {&a, &b, &c},
                   detail::Flat(strides, pads, dilations).values());
}
inline Tensor avg_pool(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& pads,
                       const std::vector<std::int64_t>& dilations,
                       const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("AvgPool"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor avg_pool_grad(const Tensor& a, const Tensor& b,
                            const std::vector<std::int64_t>& filter_size,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& pads,
                            const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("AvgPoolGrad"), {&a, &b},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor avg_pool3d(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                         const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("AvgPool3D"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor avg_pool3d_grad(const Tensor& a, const Tensor& b,
                              const std::vector<std::int64_t>& filter_size,
                              const std::vector<std::int64_t>& strides,
                              const std::vector<std::int64_t>& pads,
                              const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("AvgPool3DGrad"), {&a, &b},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor max_pool(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& pads,
                       const std::vector<std::int64_t>& dilations,
                       const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("MaxPool"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor max_pool_grad(const Tensor& a, const Tensor& b, const Tensor& c,
                            const std::vector<std::int64_t>& filter_size,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& pads,
                            const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("MaxPoolGrad"), {&a, &b, &c},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor max_pool3d(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                         const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("MaxPool3D"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor max_pool3d_grad(const Tensor& a, const Tensor& b, const Tensor& c,
                              const std::vector<std::int64_t>& filter_size,
                              const std::vector<std::int64_t>& strides,
                              const std::vector<std::int64_t>& pads,
                              const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("MaxPool3DGrad"), {&a, &b, &c},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline std::vector<Tensor> max_pool_with_argmax(const Tensor& a,
                                                const std::vector<std::int64_t>& filter_size,
                                                const std::vector<std::int64_t>& strides,
                                                const std::vector<std::int64_t>& pads,
                                                const std::vector<std::int64_t>& dilations,
                                                const std::vector<std::int64_t>& output_size,
                                                bool include_batch_in_index) {
  return apply(
      op_id("MaxPoolWithArgmax"), std::array<const Tensor*, 1>{&a},
      detail::Flat(filter_size, strides, pads, dilations, output_size, include_batch_in_index)
          .values());
}
inline Tensor fused_batch_norm(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                               const Tensor& e, double variance_epsilon) {
  return apply_one(op_id("FusedBatchNorm"), {&a, &b, &c, &d, &e},
                   detail::Flat(variance_epsilon).values());
}
inline Tensor lrn(const Tensor& a, std::int64_t depth_radius, double bias, double alpha,
                  double beta) {
  return apply_one(op_id("LRN"), {&a}, detail::Flat(depth_radius, bias, alpha, beta).values());
}
inline Tensor lrn_grad(const Tensor& a, const Tensor& b, const Tensor& c, std::int64_t depth_radius,
                       double bias, double alpha, double beta) {
  return apply_one(op_id("LRNGrad"), {&a, &b, &c},
                   detail::Flat(depth_radius, bias, alpha, beta).values());
}
inline Tensor softmax(const Tensor& a, std::int64_t dim) {
  return apply_one(op_id("Softmax"), {&a}, detail::Flat(dim).values());
}
inline Tensor log_softmax(const Tensor& a, std::int64_t axis) {
  return apply_one(op_id("LogSoftmax"), {&a}, detail::Flat(axis).values());
}
inline std::vector<Tensor> adam_update(const std::vector<Tensor>& inputs, double beta1,
                                       double beta2, double learning_rate, double epsilon) {
  return apply(op_id("AdamUpdate"), detail::pointers(inputs),
               detail::Flat(beta1, beta2, learning_rate, epsilon).values());
}

}  // namespace ebb::ops
