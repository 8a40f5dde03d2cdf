// What the meaning of image operations works out for their kernels. Images are [batch, height,
// width, channels].
#pragma once

#include <array>
#include <cstdint>

#include "ebb/base/checked.hpp"
#include "ebb/ops/words.hpp"

namespace ebb::ops {

struct ImageSize {
  std::int64_t batch = 0, height = 0, width = 0, channels = 0;

  constexpr std::int64_t row() const noexcept { return saturating_mul(width, channels); }
  constexpr std::int64_t image() const noexcept { return saturating_mul(height, row()); }
};

// From the pixels of `large` (forward: the output; gradient: dy) to those of `images`.
struct ResizeParams {
  ImageSize images;
  ImageSize resized;
  bool align_corners = false;
  bool half_pixel_centers = false;
};

struct CropParams {
  ImageSize images;
  ImageSize crops;  // batch: the boxes
  bool nearest = false;
  double extrapolation = 0;
};

struct RotateParams {
  ImageSize images;
  double sine = 0, cosine = 1;
  double center_x = 0, center_y = 0;
  bool one_fill = true;  // fill[0], for every channel
  std::array<double, 4> fill{};
};

struct TransformParams {
  ImageSize images;
  ImageSize transformed;
  bool bilinear = false;
  bool one_transform = false;  // for all images
  FillMode fill_mode = FillMode::kConstant;
  double fill = 0;
};

}  // namespace ebb::ops
