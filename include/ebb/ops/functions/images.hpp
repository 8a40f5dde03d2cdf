// Images and signals as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp images` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor crop_and_resize(const Tensor& a, const Tensor& b, const Tensor& c,
                              const std::vector<std::int64_t>& crop_size, std::int64_t method,
                              double extrapolation_value) {
  return apply_one(op_id("CropAndResize"), {&a, &b, &c},
                   detail::Flat(crop_size, method, extrapolation_value).values());
}
inline Tensor flip_left_right(const Tensor& a) {
  return apply_one(op_id("FlipLeftRight"), {&a}, {});
}
inline Tensor resize_bilinear(const Tensor& a, const std::vector<std::int64_t>& size,
                              bool align_corners, bool half_pixel_centers) {
  return apply_one(op_id("ResizeBilinear"), {&a},
                   detail::Flat(size, align_corners, half_pixel_centers).values());
}
inline Tensor resize_bilinear_grad(const Tensor& a, const Tensor& b, bool align_corners) {
  return apply_one(op_id("ResizeBilinearGrad"), {&a, &b}, detail::Flat(align_corners).values());
}
inline Tensor resize_nearest_neighbor(const Tensor& a, const std::vector<std::int64_t>& size,
                                      bool align_corners, bool half_pixel_centers) {
  return apply_one(op_id("ResizeNearestNeighbor"), {&a},
                   detail::Flat(size, align_corners, half_pixel_centers).values());
}
inline Tensor resize_nearest_neighbor_grad(const Tensor& a, const Tensor& b, bool align_corners) {
  return apply_one(op_id("ResizeNearestNeighborGrad"), {&a, &b},
                   detail::Flat(align_corners).values());
}
inline Tensor rotate_with_offset(const Tensor& a, double radians,
                                 const std::vector<double>& fill_value,
                                 const std::vector<double>& center) {
  return apply_one(op_id("RotateWithOffset"), {&a},
                   detail::Flat(radians, fill_value, center).values());
}
inline Tensor transform(const Tensor& a, const Tensor& b, std::int64_t interpolation,
                        std::int64_t fill_mode, double fill_value,
                        const std::vector<std::int64_t>& output_shape) {
  return apply_one(op_id("Transform"), {&a, &b},
                   detail::Flat(interpolation, fill_mode, fill_value, output_shape).values());
}
inline Tensor non_max_suppression_v3(const Tensor& a, const Tensor& b, std::int64_t max_output_size,
                                     double iou_threshold, double score_threshold) {
  return apply_one(op_id("NonMaxSuppressionV3"), {&a, &b},
                   detail::Flat(max_output_size, iou_threshold, score_threshold).values());
}
inline std::vector<Tensor> non_max_suppression_v4(const Tensor& a, const Tensor& b,
                                                  std::int64_t max_output_size,
                                                  double iou_threshold, double score_threshold,
                                                  bool pad_to_max_output_size) {
  return apply(op_id("NonMaxSuppressionV4"), std::array<const Tensor*, 2>{&a, &b},
               detail::Flat(max_output_size, iou_threshold, score_threshold, pad_to_max_output_size)
                   .values());
}
inline std::vector<Tensor> non_max_suppression_v5(const Tensor& a, const Tensor& b,
                                                  std::int64_t max_output_size,
                                                  double iou_threshold, double score_threshold,
                                                  double soft_nms_sigma) {
  return apply(
      op_id("NonMaxSuppressionV5"), std::array<const Tensor*, 2>{&a, &b},
      detail::Flat(max_output_size, iou_threshold, score_threshold, soft_nms_sigma).values());
}
inline Tensor fft(const Tensor& a) { return apply_one(op_id("FFT"), {&a}, {}); }
inline Tensor ifft(const Tensor& a) { return apply_one(op_id("IFFT"), {&a}, {}); }

}  // namespace ebb::ops
