// Poolings. oneDNN has them, but not what TensorFlow.js promises: a window of -Infinity, one that
// lies outside of the data, which of equal values takes the gradient, int32.
#include <array>
#include <cstring>
#include <limits>

#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/window_taps.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;
using ops::Pooling;
using ops::Windows;

template <typename T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                           : std::numeric_limits<T>::lowest();

// Rows of results, of all images: what a thread takes at least.
std::int64_t row_grain(const Windows& w, std::int64_t channels) {
  return grain_of(saturating_mul(w.out[2] * channels, volume(w.size)));
}

// Calls rows(image, first, last) for rows of results that together are all of them.
template <typename Rows>
void for_each_row(const Windows& w, std::int64_t channels, Rows rows) {
  const std::int64_t per_image = w.out[0] * w.out[1];
  parallel_for(w.batch * per_image, row_grain(w, channels),
               [&](std::int64_t begin, std::int64_t end) {
                 while (begin < end) {
                   const std::int64_t image = begin / per_image;
                   const std::int64_t stop = std::min(end, (image + 1) * per_image);
                   rows(image, begin - image * per_image, stop - image * per_image);
                   begin = stop;
                 }
               });
}

template <typename T>
void maximum_of(OpCall& call) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  for_each_row(w, channels, [&](std::int64_t image, std::int64_t first, std::int64_t last) {
    const T* x = call.in<T>(0) + image * volume(w.in) * channels;
    T* y = call.out<T>(0) + image * volume(w.out) * channels;
    visit_rows(
        w, first, last,
        [&](std::int64_t out) { std::fill_n(y + out * channels, channels, kLowest<T>); },
        [&](std::int64_t out, std::int64_t in, std::int64_t) {
          const T* from = x + in * channels;
          T* to = y + out * channels;
          for (std::int64_t c = 0; c < channels; ++c) to[c] = from[c] > to[c] ? from[c] : to[c];
        },
        [](std::int64_t, std::int64_t) {});
  });
}

void maximum(OpCall& call) {
  return call.input(0).dtype == DType::kInt32 ? maximum_of<std::int32_t>(call)
                                              : maximum_of<float>(call);
}

// A window without data is NaN in a plane and 0 in a volume, as in TensorFlow.js.
template <bool kZeroIfOutside>
void average(OpCall& call) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  for_each_row(w, channels, [&](std::int64_t image, std::int64_t first, std::int64_t last) {
    const float* x = call.in<float>(0) + image * volume(w.in) * channels;
    float* y = call.out<float>(0) + image * volume(w.out) * channels;
    visit_rows(
        w, first, last, [&](std::int64_t out) { std::fill_n(y + out * channels, channels, 0.0F); },
        [&](std::int64_t out, std::int64_t in, std::int64_t) {
          const float* from = x + in * channels;
          float* to = y + out * channels;
          for (std::int64_t c = 0; c < channels; ++c) to[c] += from[c];
        },
        [&](std::int64_t out, std::int64_t taps) {
          const auto count =
              static_cast<float>(kZeroIfOutside ? std::max<std::int64_t>(taps, 1) : taps);
          float* to = y + out * channels;
          for (std::int64_t c = 0; c < channels; ++c) to[c] /= count;
        });
  });
}

// Windows overlap in the data's gradient: a thread takes whole images.
template <typename Image>
void for_each_image(OpCall& call, const Windows& w, std::int64_t channels, Image image) {
  const std::int64_t in = volume(w.in) * channels;
  const std::int64_t out = saturating_mul(volume(w.out), channels);
  const std::int64_t grain = grain_of(std::max(in, saturating_mul(out, volume(w.size))));
  const bool none = call.input(0).shape.empty();  // its extents may be any
  parallel_for(w.batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* dx = call.out<float>(0) + i * in;
      std::memset(dx, 0, static_cast<std::size_t>(in) * sizeof(float));
      if (none) continue;
      image(call.in<float>(0) + i * out, call.in<float>(1) + i * in, dx);
    }
  });
}

// Each tap has an equal share of its window's gradient, taps outside of the data included.
void average_gradient(OpCall& call) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  const float share = 1.0F / static_cast<float>(volume(w.size));
  for_each_image(call, w, channels, [&](const float* dy, const float*, float* dx) {
    visit_rows(
        w, 0, w.out[0] * w.out[1], [](std::int64_t) {},
        [&](std::int64_t out, std::int64_t in, std::int64_t) {
          const float* from = dy + out * channels;
          float* to = dx + in * channels;
          for (std::int64_t c = 0; c < channels; ++c) to[c] += from[c] * share;
        },
        [](std::int64_t, std::int64_t) {});
  });
}

// The largest value of a window for each of a block of channels, and where it is: -1 where nothing
// is larger than -Infinity.
template <typename T>
struct Largest {
  static constexpr std::int64_t kBlock = 64;
  std::array<T, kBlock> value;
  std::array<std::int64_t, kBlock> place;
  std::int64_t count;

  void reset(std::int64_t channels) {
    count = channels;
    value.fill(kLowest<T>);
    place.fill(-1);
  }
  // Of equal values the first stays, or the last takes over.
  template <bool kLastOfEqual>
  void see(const T* values, std::int64_t at) {
    for (std::int64_t c = 0; c < count; ++c) {
      const bool larger = kLastOfEqual ? values[c] >= value[c] : values[c] > value[c];
      value[c] = larger ? values[c] : value[c];
      place[c] = larger ? at : place[c];
    }
  }
};

// Calls found(out, channel, largest) for each window and each block of channels from `channel` on.
template <bool kLastOfEqual, typename T, typename Found>
void find_largest(const Windows& w, std::int64_t channels, const T* x, Found found) {
  Largest<T> largest;
  for (std::int64_t from = 0; from < channels; from += Largest<T>::kBlock) {
    const std::int64_t count = std::min(channels - from, Largest<T>::kBlock);
    visit_rows(
        w, 0, w.out[0] * w.out[1], [&](std::int64_t) { largest.reset(count); },
        [&](std::int64_t, std::int64_t in, std::int64_t) {
          largest.template see<kLastOfEqual>(x + in * channels + from, in);
        },
        [&](std::int64_t out, std::int64_t) { found(out, from, largest); });
  }
}

template <bool kLastOfEqual>
void maximum_gradient(OpCall& call) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  for_each_image(call, w, channels, [&](const float* dy, const float* x, float* dx) {
    find_largest<kLastOfEqual>(
        w, channels, x, [&](std::int64_t out, std::int64_t from, const Largest<float>& largest) {
          const float* gradient = dy + out * channels + from;
          for (std::int64_t c = 0; c < largest.count; ++c) {
            if (largest.place[c] >= 0) dx[largest.place[c] * channels + from + c] += gradient[c];
          }
        });
  });
}

template <typename T>
void maximum_with_argmax_of(OpCall& call) {
  const auto& pooling = call.params<Pooling>();
  const Windows w = as_volume(pooling.windows);
  const std::int64_t channels = pooling.channels;
  const std::int64_t in = volume(w.in) * channels;
  const std::int64_t out_size = volume(w.out) * channels;
  const std::int64_t grain = grain_of(std::max(in, saturating_mul(out_size, volume(w.size))));
  parallel_for(w.batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      T* y = call.out<T>(0) + i * out_size;
      std::int32_t* index = call.out<std::int32_t>(1) + i * out_size;
      const std::int64_t base = pooling.batch_in_index ? i * in : 0;
      find_largest<false>(
          w, channels, call.in<T>(0) + i * in,
          [&](std::int64_t out, std::int64_t from, const Largest<T>& largest) {
            for (std::int64_t c = 0; c < largest.count; ++c) {
              const std::int64_t at = out * channels + from + c;
              y[at] = largest.value[c];
              index[at] = static_cast<std::int32_t>(
                  largest.place[c] < 0 ? -1 : base + largest.place[c] * channels + from + c);
            }
          });
    }
  });
}

void maximum_with_argmax(OpCall& call) {
  return call.input(0).dtype == DType::kInt32 ? maximum_with_argmax_of<std::int32_t>(call)
                                              : maximum_with_argmax_of<float>(call);
}

}  // namespace

void add_pooling(KernelTable& table) {
  table.set(ops::op_id("AvgPool"), average<false>);
  table.set(ops::op_id("AvgPool3D"), average<true>);
  table.set(ops::op_id("AvgPoolGrad"), average_gradient);
  table.set(ops::op_id("AvgPool3DGrad"), average_gradient);
  table.set(ops::op_id("MaxPool"), maximum);
  table.set(ops::op_id("MaxPool3D"), maximum);
  table.set(ops::op_id("MaxPoolGrad"), maximum_gradient<false>);
  table.set(ops::op_id("MaxPool3DGrad"), maximum_gradient<true>);
  table.set(ops::op_id("MaxPoolWithArgmax"), maximum_with_argmax);
}

}  // namespace ebb::cpu
