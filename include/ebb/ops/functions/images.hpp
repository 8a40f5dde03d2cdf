// Images as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp images` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct CropAndResizeOptions {
  Interpolation method = Interpolation::kBilinear;
  double extrapolation_value = 0;
};
inline Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& box_ind,
                              const std::vector<std::int64_t>& crop_size,
                              const CropAndResizeOptions& options = {}) {
  return apply_one(op_id("CropAndResize"), {&image, &boxes, &box_ind},
                   detail::Flat(crop_size, options.method, options.extrapolation_value).values());
}
inline Tensor flip_left_right(const Tensor& image) {
  return apply_one(op_id("FlipLeftRight"), {&image}, {});
}
struct ResizeBilinearOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
inline Tensor resize_bilinear(const Tensor& images, const std::vector<std::int64_t>& size,
                              const ResizeBilinearOptions& options = {}) {
  return apply_one(op_id("ResizeBilinear"), {&images},
                   detail::Flat(size, options.align_corners, options.half_pixel_centers).values());
}
struct ResizeBilinearGradOptions {
  bool align_corners = false;
};
inline Tensor resize_bilinear_grad(const Tensor& images, const Tensor& dy,
                                   const ResizeBilinearGradOptions& options = {}) {
  return apply_one(op_id("ResizeBilinearGrad"), {&images, &dy},
                   detail::Flat(options.align_corners).values());
}
struct ResizeNearestNeighborOptions {
  bool align_corners = false;
  bool half_pixel_centers = false;
};
inline Tensor resize_nearest_neighbor(const Tensor& images, const std::vector<std::int64_t>& size,
                                      const ResizeNearestNeighborOptions& options = {}) {
  return apply_one(op_id("ResizeNearestNeighbor"), {&images},
                   detail::Flat(size, options.align_corners, options.half_pixel_centers).values());
}
struct ResizeNearestNeighborGradOptions {
  bool align_corners = false;
};
inline Tensor resize_nearest_neighbor_grad(const Tensor& images, const Tensor& dy,
                                           const ResizeNearestNeighborGradOptions& options = {}) {
  return apply_one(op_id("ResizeNearestNeighborGrad"), {&images, &dy},
                   detail::Flat(options.align_corners).values());
}
struct RotateWithOffsetOptions {
  std::vector<double> fill_value = {0};
  std::vector<double> center = {0.5};
};
inline Tensor rotate_with_offset(const Tensor& image, double radians,
                                 const RotateWithOffsetOptions& options = {}) {
  return apply_one(op_id("RotateWithOffset"), {&image},
                   detail::Flat(radians, options.fill_value, options.center).values());
}
struct TransformOptions {
  Interpolation interpolation = Interpolation::kNearest;
  FillMode fill_mode = FillMode::kConstant;
  double fill_value = 0;
  std::vector<std::int64_t> output_shape = {};
};
inline Tensor transform(const Tensor& image, const Tensor& transforms,
                        const TransformOptions& options = {}) {
  return apply_one(op_id("Transform"), {&image, &transforms},
                   detail::Flat(options.interpolation, options.fill_mode, options.fill_value,
                                options.output_shape)
                       .values());
}

}  // namespace ebb::ops
