// Where the pixels of an image come from: the arithmetic is the CPU's, operation by operation,
// since a coordinate that is rounded otherwise is another pixel.
#pragma once

#include <cmath>

#include "backends/cuda/plugin/kernels/both.cuh"
#include "ops/params/images.hpp"

namespace ebb::cuda::image {

// ops::ImageSize, for the device too.
struct Size {
  std::int64_t batch, height, width, channels;

  Size() = default;
  explicit Size(const ops::ImageSize& size)
      : batch(size.batch), height(size.height), width(size.width), channels(size.channels) {}
  EBB_BOTH std::int64_t row() const { return width * channels; }
  EBB_BOTH std::int64_t image() const { return height * row(); }
};

// Of element i of images.
struct Place {
  std::int64_t batch, y, x, channel;
  EBB_BOTH Place(std::int64_t i, const Size& size) {
    if (i <= 0x7fffffff && size.image() <= 0x7fffffff) {
      auto rest = static_cast<std::uint32_t>(i);
      const auto take = [&rest](std::int64_t extent) {
        const std::uint32_t whole = rest / static_cast<std::uint32_t>(extent);
        const std::uint32_t at = rest - whole * static_cast<std::uint32_t>(extent);
        rest = whole;
        return std::int64_t{at};
      };
      channel = take(size.channels);
      x = take(size.width);
      y = take(size.height);
      batch = rest;
    } else {
      channel = i % size.channels;
      x = i / size.channels % size.width;
      y = i / size.row() % size.height;
      batch = i / size.image();
    }
  }
};

// Between two pixels of an axis: `fraction` of the way from low to high.
struct Tap {
  std::int64_t low = 0, high = 0;
  float fraction = 0;
};

// As JavaScript's Math.round: halves go up.
EBB_BOTH double round_up(double value) { return floor(value + 0.5); }

EBB_BOTH double ratio(std::int64_t from, std::int64_t to, bool align_corners) {
  const std::int64_t less = align_corners && to > 1 ? 1 : 0;
  return static_cast<double>(from - less) / static_cast<double>(to - less);
}

EBB_BOTH double clamped(double value, double last) {
  return value < 0 ? 0 : (value > last ? last : value);
}

// One axis of a resize.
struct Axis {
  std::int64_t from;
  double scale;
  bool align_corners, half_pixel_centers;

  EBB_BOTH Tap bilinear(std::int64_t i) const {
    const auto position = static_cast<double>(i);
    const double at =
        half_pixel_centers ? sum(product(scale, position + 0.5), -0.5) : product(scale, position);
    const auto last = static_cast<double>(from - 1);
    const double low = clamped(floor(at), last), high = clamped(ceil(at), last);
    return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high),
            static_cast<float>(at - low)};
  }
  EBB_BOTH std::int64_t nearest(std::int64_t i) const {
    const double at = product(scale, static_cast<double>(i) + (half_pixel_centers ? 0.5 : 0.0));
    const double nearest = align_corners ? round_up(at) : floor(at);
    return static_cast<std::int64_t>(clamped(nearest, static_cast<double>(from - 1)));
  }
};

EBB_BOTH float between(float low, float high, float fraction) {
  return sum(low, product(high - low, fraction));
}

// Where pixel i of `count` is in the span [begin, end] (fractions) of an axis of `extent` pixels.
EBB_BOTH double crop_coordinate(std::int64_t i, std::int64_t count, double begin, double end,
                                std::int64_t extent) {
  const auto last = static_cast<double>(extent - 1);
  if (count <= 1) return product(product(0.5, begin + end), last);
  return sum(
      product(begin, last),
      product(static_cast<double>(i), product(end - begin, last) / static_cast<double>(count - 1)));
}

EBB_BOTH bool inside(double at, std::int64_t extent) {
  return at >= 0 && at <= static_cast<double>(extent - 1);  // false for NaN
}

EBB_BOTH Tap crop_tap(double at, bool nearest) {
  if (nearest) {
    const auto whole = static_cast<std::int64_t>(round_up(at));
    return {whole, whole, 0};
  }
  const auto low = static_cast<std::int64_t>(floor(at));
  return {low, static_cast<std::int64_t>(ceil(at)),
          static_cast<float>(at - static_cast<double>(low))};
}

}  // namespace ebb::cuda::image
