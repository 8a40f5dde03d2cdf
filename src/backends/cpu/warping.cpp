// Images turned and projected.
#include <algorithm>
#include <array>
#include <cmath>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

void rotate(OpCall& call) {
  const auto dims = call.input(0).shape.dims();
  const std::int64_t batch = dims[0], height = dims[1], width = dims[2], channels = dims[3];
  const double sine = std::sin(call.number(0)), cosine = std::cos(call.number(0));
  const auto fills = call.numbers(1), centers = call.numbers(2);
  const double center_x = centers[0] * static_cast<double>(width);
  const double center_y = centers.back() * static_cast<double>(height);
  const auto fill_of = [&](std::int64_t channel) {
    if (fills.size() == 1) return static_cast<float>(fills[0]);
    const auto c = static_cast<std::size_t>(channel);
    return channel == 3 ? 255.0f : static_cast<float>(fills[std::min(c, fills.size() - 1)]);
  };
  const float* image = call.in<float>(0);
  float* out = call.out<float>(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t row = 0; row < height; ++row) {
      for (std::int64_t column = 0; column < width; ++column) {
        const double x = static_cast<double>(column) - center_x;
        const double y = static_cast<double>(row) - center_y;
        const auto from_x = std::floor(x * cosine - y * sine + center_x + 0.5);
        const auto from_y = std::floor(x * sine + y * cosine + center_y + 0.5);
        const bool inside = from_x >= 0 && from_x < static_cast<double>(width) && from_y >= 0 &&
                            from_y < static_cast<double>(height);
        const std::int64_t from = inside
                                      ? ((b * height + static_cast<std::int64_t>(from_y)) * width +
                                         static_cast<std::int64_t>(from_x)) *
                                            channels
                                      : 0;
        for (std::int64_t c = 0; c < channels; ++c) *out++ = inside ? image[from + c] : fill_of(c);
      }
    }
  }
}

// ---- projection; a coordinate outside of the image stands for one inside of it, by the fill mode

enum FillMode { kConstant = 0, kReflect = 1, kWrap = 2, kNearest = 3 };

double reflect(double at, double extent) {
  const double twice = 2 * extent;
  if (extent <= 1) return at < 0 || at > extent - 1 ? 0 : at;
  if (at < 0) {
    at += twice * std::trunc(-at / twice);
    at = at < -extent ? at + twice : -at - 1;
  } else if (at > extent - 1) {
    at -= twice * std::trunc(at / twice);
    if (at >= extent) at = twice - at - 1;
  }
  return std::clamp(at, 0.0, extent - 1);
}

double wrap_around(double at, double extent) {
  if (extent <= 1) return at < 0 || at > extent - 1 ? 0 : at;
  if (at < 0) {
    at += extent * (std::trunc(-at / (extent - 1)) + 1);
  } else if (at > extent - 1) {
    at -= extent * std::trunc(at / (extent - 1));
  }
  return std::clamp(at, 0.0, extent - 1);
}

double mapped(double at, std::int64_t extent, std::int64_t mode) {
  const auto size = static_cast<double>(extent);
  switch (mode) {
    case kReflect:
      return reflect(at, size);
    case kWrap:
      return wrap_around(at, size);
    case kNearest:
      return std::clamp(at, 0.0, size - 1);
    default:
      return at;
  }
}

template <typename T>
struct Picture {
  const T* data;
  std::int64_t height, width, channels;
  double fill;

  double at(double y, double x, std::int64_t channel) const {
    if (!(y >= 0 && y < static_cast<double>(height) && x >= 0 && x < static_cast<double>(width))) {
      return fill;
    }
    return convert<double>(
        data[(static_cast<std::int64_t>(y) * width + static_cast<std::int64_t>(x)) * channels +
             channel]);
  }
  double nearest(double y, double x, std::int64_t channel) const {
    return at(std::floor(y + 0.5), std::floor(x + 0.5), channel);
  }
  double bilinear(double y, double x, std::int64_t channel) const {
    const double top = std::floor(y), left = std::floor(x);
    const double right_share = x - left, bottom_share = y - top;
    const double above =
        at(top, left, channel) * (1 - right_share) + at(top, left + 1, channel) * right_share;
    const double below = at(top + 1, left, channel) * (1 - right_share) +
                         at(top + 1, left + 1, channel) * right_share;
    return above * (1 - bottom_share) + below * bottom_share;
  }
};

template <typename T>
void project(OpCall& call, std::int64_t b, T* out) {
  const auto in = call.input(0).shape.dims(), to = call.output(0).shape.dims();
  const float* m = call.in<float>(1) + (call.input(1).shape.dims()[0] == 1 ? 0 : b * 8);
  const Picture<T> picture{call.in<T>(0) + b * in[1] * in[2] * in[3], in[1], in[2], in[3],
                           call.number(2)};
  for (std::int64_t row = 0; row < to[1]; ++row) {
    for (std::int64_t column = 0; column < to[2]; ++column) {
      const auto x = static_cast<double>(column), y = static_cast<double>(row);
      const double depth = m[6] * x + m[7] * y + 1;
      const double from_x = mapped((m[0] * x + m[1] * y + m[2]) / depth, in[2], call.integer(1));
      const double from_y = mapped((m[3] * x + m[4] * y + m[5]) / depth, in[1], call.integer(1));
      for (std::int64_t c = 0; c < in[3]; ++c) {
        const double value = depth == 0             ? call.number(2)
                             : call.integer(0) == 1 ? picture.bilinear(from_y, from_x, c)
                                                    : picture.nearest(from_y, from_x, c);
        *out++ = convert<T>(value);
      }
    }
  }
}

void transform(OpCall& call) {
  const auto to = call.output(0).shape.dims();
  visit(call.input(0).dtype, [&]<typename T>(Type<T>) {
    if constexpr (!kIsComplex<T>) {
      for (std::int64_t b = 0; b < to[0]; ++b) {
        project<T>(call, b, call.out<T>(0) + b * to[1] * to[2] * to[3]);
      }
    }
  });
}

}  // namespace

void add_warping(KernelTable& kernels) {
  kernels.set(op_id("RotateWithOffset"), rotate);
  kernels.set(op_id("Transform"), transform);
}

}  // namespace ebb::cpu
