// Resizing images, and cropping them. Where the pixels of one axis come from is worked out once.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/params/images.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using ops::OpCall;

constexpr std::int64_t kGrain = 1 << 14;  // elements

std::int64_t rows_a_part(std::int64_t row) noexcept {
  return kGrain / std::max<std::int64_t>(row, 1) + 1;
}

// Between two pixels of an axis: `fraction` of the way from low to high.
struct Tap {
  std::int64_t low = 0, high = 0;
  float fraction = 0;
};

// As JavaScript's Math.round: halves go up.
double round_up(double value) noexcept { return std::floor(value + 0.5); }

double ratio(std::int64_t from, std::int64_t to, bool align_corners) noexcept {
  const std::int64_t less = align_corners && to > 1 ? 1 : 0;
  return static_cast<double>(from - less) / static_cast<double>(to - less);
}

Tap bilinear_tap(std::int64_t i, std::int64_t from, std::int64_t to,
                 const ops::ResizeParams& params) {
  const double scale = ratio(from, to, params.align_corners);
  const double at = params.half_pixel_centers ? scale * (static_cast<double>(i) + 0.5) - 0.5
                                              : scale * static_cast<double>(i);
  const auto last = static_cast<double>(from - 1);
  const double low = std::clamp(std::floor(at), 0.0, last);
  const double high = std::clamp(std::ceil(at), 0.0, last);
  return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high),
          static_cast<float>(at - low)};
}

std::int64_t nearest_tap(std::int64_t i, std::int64_t from, std::int64_t to,
                         const ops::ResizeParams& params) {
  const double at = ratio(from, to, params.align_corners) *
                    (static_cast<double>(i) + (params.half_pixel_centers ? 0.5 : 0.0));
  const double nearest = params.align_corners ? round_up(at) : std::floor(at);
  return static_cast<std::int64_t>(std::clamp(nearest, 0.0, static_cast<double>(from - 1)));
}

template <typename T, typename TapOf>
const T* taps(OpCall& call, std::int64_t from, std::int64_t to, TapOf tap_of) {
  T* made = call.workspace<T>(static_cast<std::uint64_t>(to));
  const auto& params = call.params<ops::ResizeParams>();
  for (std::int64_t i = 0; i < to; ++i) made[i] = tap_of(i, from, to, params);
  return made;
}

float between(float low, float high, float fraction) noexcept {
  return low + (high - low) * fraction;
}

void bilinear_row(const float* top, const float* bottom, float fraction, const Tap* columns,
                  std::int64_t width, std::int64_t channels, float* out) noexcept {
  for (std::int64_t x = 0; x < width; ++x) {
    const std::int64_t left = columns[x].low * channels, right = columns[x].high * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      const float above = between(top[left + c], top[right + c], columns[x].fraction);
      const float below = between(bottom[left + c], bottom[right + c], columns[x].fraction);
      *out++ = between(above, below, fraction);
    }
  }
}

void resize_bilinear(OpCall& call) {
  const ops::ImageSize& from = call.params<ops::ResizeParams>().images;
  const ops::ImageSize& to = call.params<ops::ResizeParams>().resized;
  const Tap* rows = taps<Tap>(call, from.height, to.height, bilinear_tap);
  const Tap* columns = taps<Tap>(call, from.width, to.width, bilinear_tap);
  const float* x = call.in<float>(0);
  float* y = call.out<float>(0);
  parallel_for(to.batch * to.height, rows_a_part(to.row()),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const float* image = x + i / to.height * from.image();
                   const Tap& row = rows[i % to.height];
                   bilinear_row(image + row.low * from.row(), image + row.high * from.row(),
                                row.fraction, columns, to.width, to.channels, y + i * to.row());
                 }
               });
}

// Where dy has no elements nothing comes of it, and its extents may be any.
bool is_zero_gradient(OpCall& call) {
  if (!call.input(1).shape.empty()) return false;
  const Shape& shape = call.output(0).shape;
  std::memset(call.output(0).data, 0, bytes_of(shape, sizeof(float)));
  return true;
}

// Gradients add up where they came from; images are independent.
template <typename Spread>
void spread_gradient(OpCall& call, Spread spread) {
  const ops::ImageSize& images = call.params<ops::ResizeParams>().images;
  const ops::ImageSize& dy = call.params<ops::ResizeParams>().resized;
  const float* from = call.in<float>(1);
  float* dx = call.out<float>(0);
  parallel_for(images.batch, kGrain / std::max<std::int64_t>(dy.image(), 1) + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(dx + begin * images.image(), dx + end * images.image(), 0.0f);
                 for (std::int64_t b = begin; b < end; ++b) {
                   spread(from + b * dy.image(), dx + b * images.image());
                 }
               });
}

void resize_bilinear_grad(OpCall& call) {
  if (is_zero_gradient(call)) return;
  const ops::ImageSize& images = call.params<ops::ResizeParams>().images;
  const ops::ImageSize& dy = call.params<ops::ResizeParams>().resized;
  const Tap* rows = taps<Tap>(call, images.height, dy.height, bilinear_tap);
  const Tap* columns = taps<Tap>(call, images.width, dy.width, bilinear_tap);
  spread_gradient(call, [&, row = images.row(), channels = images.channels, height = dy.height,
                         width = dy.width](const float* from, float* dx) {
    for (std::int64_t y = 0; y < height; ++y) {
      float* top = dx + rows[y].low * row;
      float* bottom = dx + rows[y].high * row;
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t left = columns[x].low * channels, right = columns[x].high * channels;
        const float down = rows[y].fraction, across = columns[x].fraction;
        for (std::int64_t c = 0; c < channels; ++c) {
          const float gradient = *from++;
          top[left + c] += gradient * (1 - down) * (1 - across);
          top[right + c] += gradient * (1 - down) * across;
          bottom[left + c] += gradient * down * (1 - across);
          bottom[right + c] += gradient * down * across;
        }
      }
    }
  });
}

void resize_nearest(OpCall& call) {
  const ops::ImageSize& from = call.params<ops::ResizeParams>().images;
  const ops::ImageSize& to = call.params<ops::ResizeParams>().resized;
  const auto* rows = taps<std::int64_t>(call, from.height, to.height, nearest_tap);
  const auto* columns = taps<std::int64_t>(call, from.width, to.width, nearest_tap);
  visit_size(call.input(0).dtype, [&]<typename T>(Type<T>) {
    const T* x = call.in<T>(0);
    T* y = call.out<T>(0);
    parallel_for(
        to.batch * to.height, rows_a_part(to.row()), [&](std::int64_t begin, std::int64_t end) {
          T* out = y + begin * to.row();
          for (std::int64_t i = begin; i < end; ++i) {
            const T* row = x + i / to.height * from.image() + rows[i % to.height] * from.row();
            for (std::int64_t column = 0; column < to.width; ++column) {
              out = std::copy_n(row + columns[column] * to.channels, to.channels, out);
            }
          }
        });
  });
}

void resize_nearest_grad(OpCall& call) {
  if (is_zero_gradient(call)) return;
  const ops::ImageSize& images = call.params<ops::ResizeParams>().images;
  const ops::ImageSize& dy = call.params<ops::ResizeParams>().resized;
  const auto* rows = taps<std::int64_t>(call, images.height, dy.height, nearest_tap);
  const auto* columns = taps<std::int64_t>(call, images.width, dy.width, nearest_tap);
  spread_gradient(call, [&, row = images.row(), channels = images.channels, height = dy.height,
                         width = dy.width](const float* from, float* dx) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        float* pixel = dx + rows[y] * row + columns[x] * channels;
        for (std::int64_t c = 0; c < channels; ++c) pixel[c] += *from++;
      }
    }
  });
}

// ---- CropAndResize

// Where pixel i of `count` is in the span [begin, end] (fractions) of an axis of `extent` pixels.
double crop_coordinate(std::int64_t i, std::int64_t count, double begin, double end,
                       std::int64_t extent) noexcept {
  const auto last = static_cast<double>(extent - 1);
  if (count <= 1) return 0.5 * (begin + end) * last;
  return begin * last +
         static_cast<double>(i) * ((end - begin) * last / static_cast<double>(count - 1));
}

bool inside(double at, std::int64_t extent) noexcept {
  return at >= 0 && at <= static_cast<double>(extent - 1);  // false for NaN
}

Tap crop_tap(double at, bool nearest) noexcept {
  if (nearest) {
    const auto whole = static_cast<std::int64_t>(round_up(at));
    return {whole, whole, 0};
  }
  const auto low = static_cast<std::int64_t>(std::floor(at));
  return {low, static_cast<std::int64_t>(std::ceil(at)),
          static_cast<float>(at - static_cast<double>(low))};
}

void crop_row(const float* image, const float* box, std::int64_t y, const ops::CropParams& params,
              float* out) noexcept {
  const auto& [images, crops, nearest, extrapolation] = params;
  const double at_y = crop_coordinate(y, crops.height, box[0], box[2], images.height);
  if (!inside(at_y, images.height)) {
    std::fill_n(out, crops.row(), static_cast<float>(extrapolation));
    return;
  }
  const Tap row = crop_tap(at_y, nearest);
  for (std::int64_t x = 0; x < crops.width; ++x, out += crops.channels) {
    const double at_x = crop_coordinate(x, crops.width, box[1], box[3], images.width);
    if (!inside(at_x, images.width)) {
      std::fill_n(out, crops.channels, static_cast<float>(extrapolation));
      continue;
    }
    const Tap column = crop_tap(at_x, nearest);
    bilinear_row(image + row.low * images.row(), image + row.high * images.row(), row.fraction,
                 &column, 1, crops.channels, out);
  }
}

void crop_and_resize(OpCall& call) {
  const auto& params = call.params<ops::CropParams>();
  const auto* which = call.in<std::int32_t>(2);
  for (std::int64_t i = 0; i < params.crops.batch; ++i) {
    call.check(which[i] >= 0, "box {} is of image {}, 0 to {} are allowed", i, which[i],
               params.images.batch - 1);
  }
  if (call.output(0).shape.empty()) return;
  const float* images = call.in<float>(0);
  const float* boxes = call.in<float>(1);
  float* out = call.out<float>(0);
  const std::int64_t row = params.crops.row(), height = params.crops.height;
  parallel_for(params.crops.batch * height, rows_a_part(row),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const std::int64_t box = i / height;
                   if (which[box] >= params.images.batch) {  // TensorFlow.js leaves zeros
                     std::fill_n(out + i * row, row, 0.0f);
                   } else {
                     crop_row(images + which[box] * params.images.image(), boxes + box * 4,
                              i % height, params, out + i * row);
                   }
                 }
               });
}

}  // namespace

void add_images_resize(KernelTable& kernels) {
  kernels.set(op_id("ResizeBilinear"), resize_bilinear);
  kernels.set(op_id("ResizeBilinearGrad"), resize_bilinear_grad);
  kernels.set(op_id("ResizeNearestNeighbor"), resize_nearest);
  kernels.set(op_id("ResizeNearestNeighborGrad"), resize_nearest_grad);
  kernels.set(op_id("CropAndResize"), crop_and_resize);
}

}  // namespace ebb::cpu
