// Rotating and transforming images.
#include <algorithm>
#include <cmath>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/movement.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/params/images.hpp"

namespace ebb::cpu {
namespace {

using ops::FillMode;
using ops::ImageSize;
using ops::op_id;
using ops::OpCall;

constexpr std::int64_t kGrain = 1 << 13;  // elements

// Calls body(image, y) for every row of the output.
template <typename Body>
void each_row(const ImageSize& size, Body body) {
  const std::int64_t grain = kGrain / std::max<std::int64_t>(size.row(), 1) + 1;
  parallel_for(size.batch * size.height, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i / size.height, i % size.height);
  });
}

double round_up(double value) noexcept { return std::floor(value + 0.5); }

template <typename T>
T fill_for(const ops::RotateParams& params, std::int64_t channel) noexcept {
  return convert<T>(params.fill[params.one_fill ? 0 : static_cast<std::size_t>(channel)]);
}

bool within(double y, double x, const ImageSize& size) noexcept {
  return y >= 0 && y < static_cast<double>(size.height) && x >= 0 &&
         x < static_cast<double>(size.width);  // false for NaN
}

std::int64_t offset(double y, double x, const ImageSize& size) noexcept {
  return static_cast<std::int64_t>(y) * size.row() + static_cast<std::int64_t>(x) * size.channels;
}

template <typename T>
void rotate_row(const T* image, T* out, std::int64_t row,
                const ops::RotateParams& params) noexcept {
  const ImageSize& size = params.images;
  const double y = static_cast<double>(row) - params.center_y;
  for (std::int64_t column = 0; column < size.width; ++column, out += size.channels) {
    const double x = static_cast<double>(column) - params.center_x;
    const double from_x = round_up(x * params.cosine - y * params.sine + params.center_x);
    const double from_y = round_up(x * params.sine + y * params.cosine + params.center_y);
    if (within(from_y, from_x, size)) {
      std::copy_n(image + offset(from_y, from_x, size), size.channels, out);
    } else {
      for (std::int64_t c = 0; c < size.channels; ++c) out[c] = fill_for<T>(params, c);
    }
  }
}

void rotate(OpCall& call) {
  const auto& params = call.params<ops::RotateParams>();
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      const T* in = call.in<T>(0);
      T* out = call.out<T>(0);
      each_row(params.images, [&](std::int64_t image, std::int64_t y) {
        rotate_row(in + image * params.images.image(),
                   out + image * params.images.image() + y * params.images.row(), y, params);
      });
    }
  });
}

// ---- Transform: where a coordinate outside of [0, extent) comes from

double keep_within(double at, double last) noexcept {  // NaN stays
  return at < 0 ? 0 : (at > last ? last : at);
}

// [abcd] is dcba|abcd|dcba.
double reflected(double at, double extent) noexcept {
  const double period = 2 * extent;
  if (extent <= 1) return 0;
  if (at < 0) {
    at += period * std::trunc(-at / period);
    at = at < -extent ? at + period : -at - 1;
  } else if (at > extent - 1) {
    at -= period * std::trunc(at / period);
    if (at >= extent) at = period - at - 1;
  }
  return at;
}

// [abcd] is abcd|abcd|abcd.
double wrapped(double at, double extent) noexcept {
  if (extent <= 1) return 0;
  if (at < 0) return at + extent * (std::trunc(-at / (extent - 1)) + 1);
  if (at > extent - 1) return at - extent * std::trunc(at / (extent - 1));
  return at;
}

double map_coordinate(double at, std::int64_t extent_of_axis, FillMode mode) noexcept {
  const auto extent = static_cast<double>(extent_of_axis);
  if (std::isnan(at)) return at;
  switch (mode) {
    case FillMode::kReflect:
      return keep_within(reflected(at, extent), extent - 1);
    case FillMode::kWrap:
      return keep_within(wrapped(at, extent), extent - 1);
    case FillMode::kNearest:
      return keep_within(at, extent - 1);
    case FillMode::kConstant:
      break;
  }
  return at;
}

template <typename T>
double pixel(const T* image, double y, double x, std::int64_t channel,
             const ops::TransformParams& params) noexcept {
  if (!within(y, x, params.images)) return params.fill;
  return convert<double>(image[offset(y, x, params.images) + channel]);
}

template <typename T>
double bilinear(const T* image, double y, double x, std::int64_t channel,
                const ops::TransformParams& params) noexcept {
  const double top = std::floor(y), left = std::floor(x);
  const double right_share = x - left, bottom_share = y - top;
  const auto across = [&](double row) {
    return (1 - right_share) * pixel(image, row, left, channel, params) +
           right_share * pixel(image, row, left + 1, channel, params);
  };
  return (1 - bottom_share) * across(top) + bottom_share * across(top + 1);
}

template <typename T>
void transform_row(const T* image, const float* matrix, std::int64_t row, T* out,
                   const ops::TransformParams& params) noexcept {
  const auto y = static_cast<double>(row);
  for (std::int64_t column = 0; column < params.transformed.width; ++column) {
    const auto x = static_cast<double>(column);
    const double projection = matrix[6] * x + matrix[7] * y + 1;
    const double from_x = map_coordinate((matrix[0] * x + matrix[1] * y + matrix[2]) / projection,
                                         params.images.width, params.fill_mode);
    const double from_y = map_coordinate((matrix[3] * x + matrix[4] * y + matrix[5]) / projection,
                                         params.images.height, params.fill_mode);
    // A projection of 0 leads to infinity, which is outside whatever the mode.
    const bool lost = projection == 0 || !std::isfinite(from_x) || !std::isfinite(from_y);
    for (std::int64_t c = 0; c < params.transformed.channels; ++c) {
      *out++ = convert<T>(
          lost ? params.fill
               : (params.bilinear ? bilinear(image, from_y, from_x, c, params)
                                  : pixel(image, round_up(from_y), round_up(from_x), c, params)));
    }
  }
}

void transform(OpCall& call) {
  const auto& params = call.params<ops::TransformParams>();
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      const T* in = call.in<T>(0);
      const float* matrices = call.in<float>(1);
      T* out = call.out<T>(0);
      each_row(params.transformed, [&](std::int64_t image, std::int64_t y) {
        transform_row(
            in + image * params.images.image(), matrices + (params.one_transform ? 0 : image * 8),
            y, out + image * params.transformed.image() + y * params.transformed.row(), params);
      });
    }
  });
}

}  // namespace

void add_images_turn(KernelTable& kernels) {
  kernels.set(op_id("FlipLeftRight"), move);
  kernels.set(op_id("RotateWithOffset"), rotate);
  kernels.set(op_id("Transform"), transform);
}

}  // namespace ebb::cpu
