// Rotating and transforming images: a thread for each element of the output.
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/images.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/movement.hpp"
#include "ops/params/images.hpp"

namespace ebb::cuda {
namespace {

EBB_CUDA_KERNEL(FlipLeftRight, move);

using image::Place;
using ops::FillMode;

__device__ bool within(double y, double x, const image::Size& size) {
  return y >= 0 && y < static_cast<double>(size.height) && x >= 0 &&
         x < static_cast<double>(size.width);  // false for NaN
}

__device__ std::int64_t offset(double y, double x, const image::Size& size) {
  return static_cast<std::int64_t>(y) * size.row() + static_cast<std::int64_t>(x) * size.channels;
}

// ---- RotateWithOffset

struct Rotate {
  DType dtype;
  const void* in;
  void* out;
  image::Size size;
  double sine, cosine, center_x, center_y;
  bool one_fill;
  double fill[4];

  __device__ double fill_for(std::int64_t channel) const { return fill[one_fill ? 0 : channel]; }
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, size);
    const double y = static_cast<double>(at.y) - center_y, x = static_cast<double>(at.x) - center_x;
    const double from_x =
        image::round_up(sum(sum(product(x, cosine), -product(y, sine)), center_x));
    const double from_y = image::round_up(sum(sum(product(x, sine), product(y, cosine)), center_y));
    if (!within(from_y, from_x, size)) return store(dtype, out, i, fill_for(at.channel));
    const std::int64_t source = at.batch * size.image() + offset(from_y, from_x, size) + at.channel;
    visit(dtype, [&]<typename T>(Type<T>) {
      static_cast<T*>(out)[i] = static_cast<const T*>(in)[source];
    });
  }
};

void rotate(Call& call) {
  const auto& params = call.params<ops::RotateParams>();
  Rotate body{.dtype = dtype_of(call.input(0)),
              .in = call.input(0).data,
              .out = call.output(0).data,
              .size = image::Size(params.images),
              .sine = params.sine,
              .cosine = params.cosine,
              .center_x = params.center_x,
              .center_y = params.center_y,
              .one_fill = params.one_fill,
              .fill = {params.fill[0], params.fill[1], params.fill[2], params.fill[3]}};
  for_each(call.stream(), elements(call.output(0)), "RotateWithOffset", body);
}
EBB_CUDA_KERNEL(RotateWithOffset, rotate);

// ---- Transform: where a coordinate outside of [0, extent) comes from

__device__ double keep_within(double at, double last) {  // NaN stays
  return at < 0 ? 0 : (at > last ? last : at);
}

// [abcd] is dcba|abcd|dcba.
__device__ double reflected(double at, double extent) {
  const double period = 2 * extent;
  if (extent <= 1) return 0;
  if (at < 0) {
    at = sum(at, product(period, trunc(-at / period)));
    at = at < -extent ? at + period : -at - 1;
  } else if (at > extent - 1) {
    at = sum(at, -product(period, trunc(at / period)));
    if (at >= extent) at = period - at - 1;
  }
  return at;
}

// [abcd] is abcd|abcd|abcd.
__device__ double wrapped(double at, double extent) {
  if (extent <= 1) return 0;
  if (at < 0) return sum(at, product(extent, trunc(-at / (extent - 1)) + 1));
  if (at > extent - 1) return sum(at, -product(extent, trunc(at / (extent - 1))));
  return at;
}

__device__ double map_coordinate(double at, std::int64_t extent_of_axis, FillMode mode) {
  const auto extent = static_cast<double>(extent_of_axis);
  if (at != at) return at;
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

struct Transform {
  DType dtype;
  const void* in;
  const float* matrices;
  void* out;
  image::Size images, transformed;
  bool is_bilinear, one_transform;
  FillMode fill_mode;
  double fill;

  __device__ double pixel(std::int64_t image, double y, double x, std::int64_t channel) const {
    if (!within(y, x, images)) return fill;
    return load<double>(dtype, in, image + offset(y, x, images) + channel);
  }
  __device__ double across(std::int64_t image, double y, double left, double share,
                           std::int64_t channel) const {
    return sum(product(1 - share, pixel(image, y, left, channel)),
               product(share, pixel(image, y, left + 1, channel)));
  }
  __device__ double bilinear(std::int64_t image, double y, double x, std::int64_t channel) const {
    const double top = floor(y), left = floor(x);
    const double right_share = x - left, bottom_share = y - top;
    return sum(product(1 - bottom_share, across(image, top, left, right_share, channel)),
               product(bottom_share, across(image, top + 1, left, right_share, channel)));
  }
  // a * x + b * y + c, c being one of the matrix's floats.
  static __device__ double line(float a, double x, float b, double y, double c) {
    return sum(sum(product(double{a}, x), product(double{b}, y)), c);
  }
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, transformed);
    const float* m = matrices + (one_transform ? 0 : at.batch * 8);
    const auto x = static_cast<double>(at.x), y = static_cast<double>(at.y);
    const double projection = line(m[6], x, m[7], y, 1);
    const double from_x =
        map_coordinate(line(m[0], x, m[1], y, m[2]) / projection, images.width, fill_mode);
    const double from_y =
        map_coordinate(line(m[3], x, m[4], y, m[5]) / projection, images.height, fill_mode);
    // A projection of 0 leads to infinity, which is outside whatever the mode.
    const bool lost =
        projection == 0 || from_x - from_x != 0 || from_y - from_y != 0;  // infinite or NaN
    const std::int64_t image = at.batch * images.image();
    store(dtype, out, i,
          lost ? fill
          : is_bilinear
              ? bilinear(image, from_y, from_x, at.channel)
              : pixel(image, image::round_up(from_y), image::round_up(from_x), at.channel));
  }
};

void transform(Call& call) {
  const auto& params = call.params<ops::TransformParams>();
  for_each(call.stream(), elements(call.output(0)), "Transform",
           Transform{.dtype = dtype_of(call.input(0)),
                     .in = call.input(0).data,
                     .matrices = call.in<float>(1),
                     .out = call.output(0).data,
                     .images = image::Size(params.images),
                     .transformed = image::Size(params.transformed),
                     .is_bilinear = params.bilinear,
                     .one_transform = params.one_transform,
                     .fill_mode = params.fill_mode,
                     .fill = params.fill});
}
EBB_CUDA_KERNEL(Transform, transform);

}  // namespace
}  // namespace ebb::cuda
