// Images made larger, smaller, and cut out.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

constexpr std::int64_t kGrain = 32 << 10;  // elements

struct Images {
  std::int64_t batch, height, width, channels;
  explicit Images(const Shape& shape)
      : batch(shape.dims()[0]),
        height(shape.dims()[1]),
        width(shape.dims()[2]),
        channels(shape.dims()[3]) {}
  std::int64_t pixel(std::int64_t b, std::int64_t y, std::int64_t x) const {
    return ((b * height + y) * width + x) * channels;
  }
};

// One axis: how a position after corresponds to one before.
struct Scale {
  double ratio;
  bool half_pixels, align;
  Scale(std::int64_t before, std::int64_t after, bool align_corners, bool half_pixel_centers)
      : ratio(align_corners && after > 1
                  ? static_cast<double>(before - 1) / static_cast<double>(after - 1)
                  : static_cast<double>(before) / static_cast<double>(after)),
        half_pixels(half_pixel_centers),
        align(align_corners) {}
  double smooth(std::int64_t i) const {
    const auto at = static_cast<double>(i);
    return half_pixels ? ratio * (at + 0.5) - 0.5 : ratio * at;
  }
  std::int64_t nearest(std::int64_t i, std::int64_t before) const {
    const double at = ratio * (static_cast<double>(i) + (half_pixels ? 0.5 : 0.0));
    const double whole = align ? std::floor(at + 0.5) : std::floor(at);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(whole), 0, before - 1);
  }
};

// Between two neighbours along an axis: `fraction` of the way from low to high.
struct Between {
  std::int64_t low, high;
  double fraction;
  Between(double at, std::int64_t extent)
      : low(std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(at)))),
        high(std::min<std::int64_t>(extent - 1, static_cast<std::int64_t>(std::ceil(at)))),
        fraction(at - static_cast<double>(low)) {
    low = std::min(low, extent - 1);
  }
};

void blend(const float* image, const Images& in, std::int64_t b, const Between& y, const Between& x,
           float* out) {
  const float* top_left = image + in.pixel(b, y.low, x.low);
  const float* top_right = image + in.pixel(b, y.low, x.high);
  const float* bottom_left = image + in.pixel(b, y.high, x.low);
  const float* bottom_right = image + in.pixel(b, y.high, x.high);
  for (std::int64_t c = 0; c < in.channels; ++c) {
    const double top = top_left[c] + (top_right[c] - top_left[c]) * x.fraction;
    const double bottom = bottom_left[c] + (bottom_right[c] - bottom_left[c]) * x.fraction;
    out[c] = static_cast<float>(top + (bottom - top) * y.fraction);
  }
}

// Calls row(b, y) for every row of the output.
template <typename Row>
void each_row(const Images& out, Row row) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, out.width * out.channels));
  parallel_for(out.batch * out.height, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; ++at) row(at / out.height, at % out.height);
  });
}

void resize_bilinear(OpCall& call) {
  const Images in(call.input(0).shape), out(call.output(0).shape);
  const Scale rows(in.height, out.height, call.boolean(1), call.boolean(2));
  const Scale columns(in.width, out.width, call.boolean(1), call.boolean(2));
  const float* image = call.in<float>(0);
  float* to = call.out<float>(0);
  if (in.height * in.width == 0) return;
  each_row(out, [&](std::int64_t b, std::int64_t y) {
    const Between row(rows.smooth(y), in.height);
    for (std::int64_t x = 0; x < out.width; ++x) {
      blend(image, in, b, row, Between(columns.smooth(x), in.width), to + out.pixel(b, y, x));
    }
  });
}

void resize_nearest(OpCall& call) {
  const Images in(call.input(0).shape), out(call.output(0).shape);
  const Scale rows(in.height, out.height, call.boolean(1), call.boolean(2));
  const Scale columns(in.width, out.width, call.boolean(1), call.boolean(2));
  const auto size = static_cast<std::int64_t>(size_of(call.input(0).dtype));
  const std::byte* image = call.input(0).data;
  std::byte* to = call.output(0).data;
  if (in.height * in.width == 0) return;
  each_row(out, [&](std::int64_t b, std::int64_t y) {
    const std::int64_t row = rows.nearest(y, in.height);
    for (std::int64_t x = 0; x < out.width; ++x) {
      std::memcpy(to + out.pixel(b, y, x) * size,
                  image + in.pixel(b, row, columns.nearest(x, in.width)) * size,
                  static_cast<std::size_t>(in.channels * size));
    }
  });
}

void resize_bilinear_grad(OpCall& call) {
  const Images x(call.input(0).shape), dy(call.input(1).shape);
  const Scale rows(x.height, dy.height, call.boolean(0), false);
  const Scale columns(x.width, dy.width, call.boolean(0), false);
  const float* from = call.in<float>(1);
  float* to = call.out<float>(0);
  std::fill_n(to, ops::elements(call.output(0).shape), 0.0f);
  for (std::int64_t b = 0; b < dy.batch; ++b) {
    for (std::int64_t r = 0; r < dy.height; ++r) {
      const Between row(rows.smooth(r), x.height);
      for (std::int64_t c = 0; c < dy.width; ++c) {
        const Between column(columns.smooth(c), x.width);
        for (std::int64_t d = 0; d < dy.channels; ++d) {
          const double value = *from++;
          const double bottom = value * row.fraction, top = value - bottom;
          to[x.pixel(b, row.low, column.low) + d] +=
              static_cast<float>(top * (1 - column.fraction));
          to[x.pixel(b, row.low, column.high) + d] += static_cast<float>(top * column.fraction);
          to[x.pixel(b, row.high, column.low) + d] +=
              static_cast<float>(bottom * (1 - column.fraction));
          to[x.pixel(b, row.high, column.high) + d] += static_cast<float>(bottom * column.fraction);
        }
      }
    }
  }
}

void resize_nearest_grad(OpCall& call) {
  const Images x(call.input(0).shape), dy(call.input(1).shape);
  const Scale rows(x.height, dy.height, call.boolean(0), false);
  const Scale columns(x.width, dy.width, call.boolean(0), false);
  const float* from = call.in<float>(1);
  float* to = call.out<float>(0);
  std::fill_n(to, ops::elements(call.output(0).shape), 0.0f);
  for (std::int64_t b = 0; b < dy.batch; ++b) {
    for (std::int64_t r = 0; r < dy.height; ++r) {
      for (std::int64_t c = 0; c < dy.width; ++c) {
        float* pixel = to + x.pixel(b, rows.nearest(r, x.height), columns.nearest(c, x.width));
        for (std::int64_t d = 0; d < dy.channels; ++d) pixel[d] += *from++;
      }
    }
  }
}

// Where, between 0 and 1 of the image, a crop's positions lie.
double crop_position(double from, double to, std::int64_t extent, std::int64_t crop,
                     std::int64_t i) {
  const auto last = static_cast<double>(extent - 1);
  if (crop == 1) return 0.5 * (from + to) * last;
  return from * last +
         static_cast<double>(i) * ((to - from) * last / static_cast<double>(crop - 1));
}

void crop_and_resize(OpCall& call) {
  const Images in(call.input(0).shape), out(call.output(0).shape);
  const float* image = call.in<float>(0);
  const float* boxes = call.in<float>(1);
  const std::int32_t* of = call.in<std::int32_t>(2);
  const bool nearest = call.integer(1) == 1;
  const auto outside = static_cast<float>(call.number(2));
  float* to = call.out<float>(0);
  for (std::int64_t b = 0; b < out.batch; ++b) {
    const bool there = of[b] >= 0 && of[b] < in.batch;
    for (std::int64_t y = 0; y < out.height; ++y) {
      const double row = crop_position(boxes[b * 4], boxes[b * 4 + 2], in.height, out.height, y);
      for (std::int64_t x = 0; x < out.width; ++x) {
        const double column =
            crop_position(boxes[b * 4 + 1], boxes[b * 4 + 3], in.width, out.width, x);
        float* pixel = to + out.pixel(b, y, x);
        const bool inside = row >= 0 && row <= static_cast<double>(in.height - 1) && column >= 0 &&
                            column <= static_cast<double>(in.width - 1);
        if (!there || !inside) {
          std::fill_n(pixel, out.channels, there ? outside : 0.0f);
        } else if (nearest) {
          const float* from =
              image + in.pixel(of[b], static_cast<std::int64_t>(std::floor(row + 0.5)),
                               static_cast<std::int64_t>(std::floor(column + 0.5)));
          std::copy_n(from, in.channels, pixel);
        } else {
          blend(image, in, of[b], Between(row, in.height), Between(column, in.width), pixel);
        }
      }
    }
  }
}

}  // namespace

void add_resizing(KernelTable& kernels) {
  kernels.set(op_id("ResizeBilinear"), resize_bilinear);
  kernels.set(op_id("ResizeNearestNeighbor"), resize_nearest);
  kernels.set(op_id("ResizeBilinearGrad"), resize_bilinear_grad);
  kernels.set(op_id("ResizeNearestNeighborGrad"), resize_nearest_grad);
  kernels.set(op_id("CropAndResize"), crop_and_resize);
}

}  // namespace ebb::cpu
