// Grayscale dilation and its gradients.
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

// What TensorFlow.js begins with: a sum must be larger to count.
template <typename T>
constexpr T kFloor = std::numeric_limits<T>::has_infinity ? static_cast<T>(-9007199254740991.0)
                                                          : std::numeric_limits<T>::lowest();

template <typename T>
void dilate_of(OpCall& call) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  const T* filter = call.in<T>(1);
  const std::int64_t grain = grain_of(saturating_mul(volume(w.out) * channels, volume(w.size)));
  parallel_for(w.batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t image = begin; image < end; ++image) {
      const T* x = call.in<T>(0) + image * volume(w.in) * channels;
      T* y = call.out<T>(0) + image * volume(w.out) * channels;
      visit_rows(
          w, 0, w.out[0] * w.out[1],
          [&](std::int64_t out) { std::fill_n(y + out * channels, channels, kFloor<T>); },
          [&](std::int64_t out, std::int64_t in, std::int64_t tap) {
            const T* from = x + in * channels;
            const T* more = filter + tap * channels;
            T* to = y + out * channels;
            for (std::int64_t c = 0; c < channels; ++c) {
              const T sum = from[c] + more[c];
              to[c] = sum > to[c] ? sum : to[c];
            }
          },
          [](std::int64_t, std::int64_t) {});
    }
  });
}

void dilate(OpCall& call) {
  return call.input(0).dtype == DType::kInt32 ? dilate_of<std::int32_t>(call)
                                              : dilate_of<float>(call);
}

// Where the largest sum of a window is: the first pixel under it and the first tap if there is
// none.
struct Peak {
  std::int64_t pixel;
  std::int64_t tap;
};

Peak fallback_peak(const Windows& w, std::int64_t out) {
  const std::int64_t y = std::max<std::int64_t>(0, taps_of(w, 1, out / w.out[2]).start);
  const std::int64_t x = std::max<std::int64_t>(0, taps_of(w, 2, out % w.out[2]).start);
  return {y < w.in[1] && x < w.in[2] ? y * w.in[2] + x : 0, 0};
}

// Calls give(image, peak, channel, gradient) for every element of dy. One thread: both gradients
// are sums over windows that overlap, and the order of a sum is part of its result.
template <typename Give>
void for_each_peak(OpCall& call, Give give) {
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  const float* filter = call.in<float>(1);
  if (call.input(2).shape.empty()) return;
  for (std::int64_t image = 0; image < w.batch; ++image) {
    const float* x = call.in<float>(0) + image * volume(w.in) * channels;
    const float* dy = call.in<float>(2) + image * volume(w.out) * channels;
    for (std::int64_t c = 0; c < channels; ++c) {
      Peak peak{};
      float largest = 0;
      visit_rows(
          w, 0, w.out[0] * w.out[1],
          [&](std::int64_t out) {
            peak = fallback_peak(w, out);
            largest = kFloor<float>;
          },
          [&](std::int64_t, std::int64_t in, std::int64_t tap) {
            const float sum = x[in * channels + c] + filter[tap * channels + c];
            if (sum > largest) {
              largest = sum;
              peak = {in, tap};
            }
          },
          [&](std::int64_t out, std::int64_t) { give(image, peak, c, dy[out * channels + c]); });
    }
  }
}

void clear(OpCall& call) {
  const std::int64_t count = ops::elements(call.output(0).shape);
  std::memset(call.out<float>(0), 0, static_cast<std::size_t>(count) * sizeof(float));
}

void input_gradient(OpCall& call) {
  clear(call);
  const Windows w = as_volume(call.params<Pooling>().windows);
  const std::int64_t channels = call.params<Pooling>().channels;
  float* dx = call.out<float>(0);
  for_each_peak(call, [&](std::int64_t image, Peak peak, std::int64_t c, float gradient) {
    dx[(image * volume(w.in) + peak.pixel) * channels + c] += gradient;
  });
}

void filter_gradient(OpCall& call) {
  clear(call);
  const std::int64_t channels = call.params<Pooling>().channels;
  float* gradients = call.out<float>(0);
  for_each_peak(call, [&](std::int64_t, Peak peak, std::int64_t c, float gradient) {
    gradients[peak.tap * channels + c] += gradient;
  });
}

}  // namespace

void add_dilation(KernelTable& table) {
  table.set(ops::op_id("Dilation2D"), dilate);
  table.set(ops::op_id("Dilation2DBackpropInput"), input_gradient);
  table.set(ops::op_id("Dilation2DBackpropFilter"), filter_gradient);
}

}  // namespace ebb::cpu
