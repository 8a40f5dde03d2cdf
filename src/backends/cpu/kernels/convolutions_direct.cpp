#include "backends/cpu/kernels/convolutions_direct.hpp"

#include <algorithm>

#include "backends/cpu/kernels/window_taps.hpp"
#include "backends/cpu/parallel.hpp"

namespace ebb::cpu {
namespace {

using ops::Convolution;
using Index = std::int64_t;

// Channels of the result that a channel of the data goes into.
Index fan_out(const Convolution& c) {
  return c.depthwise ? c.out_channels / c.in_channels : c.out_channels;
}

// Calls visit(channel, first of the results' channels it goes into) for a pair of pixels.
template <typename Visit>
void for_each_channel(const Convolution& c, Visit visit) {
  const Index step = c.depthwise ? fan_out(c) : 0;
  for (Index i = 0; i < c.in_channels; ++i) visit(i, i * step);
}

// The same sums where each channel goes into one: a loop that vectors serve.
bool is_plain_depthwise(const Convolution& c) { return c.depthwise && fan_out(c) == 1; }

void add_pixel(const Convolution& c, const float* data, const float* filter, float* result) {
  if (is_plain_depthwise(c)) {
    for (Index i = 0; i < c.in_channels; ++i) result[i] += data[i] * filter[i];
    return;
  }
  const Index fan = fan_out(c);
  for_each_channel(c, [&](Index i, Index first) {
    const float* weights = filter + i * fan;
    for (Index j = 0; j < fan; ++j) result[first + j] += data[i] * weights[j];
  });
}

void add_pixel_to_input(const Convolution& c, const float* gradient, const float* filter,
                        float* data) {
  if (is_plain_depthwise(c)) {
    for (Index i = 0; i < c.in_channels; ++i) data[i] += gradient[i] * filter[i];
    return;
  }
  const Index fan = fan_out(c);
  for_each_channel(c, [&](Index i, Index first) {
    const float* weights = filter + i * fan;
    float sum = 0;
    for (Index j = 0; j < fan; ++j) sum += gradient[first + j] * weights[j];
    data[i] += sum;
  });
}

void add_pixel_to_filter(const Convolution& c, const float* data, const float* gradient,
                         float* filter) {
  if (is_plain_depthwise(c)) {
    for (Index i = 0; i < c.in_channels; ++i) filter[i] += data[i] * gradient[i];
    return;
  }
  const Index fan = fan_out(c);
  for_each_channel(c, [&](Index i, Index first) {
    float* weights = filter + i * fan;
    for (Index j = 0; j < fan; ++j) weights[j] += data[i] * gradient[first + j];
  });
}

constexpr auto kNothingBefore = [](Index) {};
constexpr auto kNothingAfter = [](Index, Index) {};

}  // namespace

void convolve_direct(const Convolution& c, const float* data, const float* filter, float* result) {
  const ops::Windows& w = c.windows;
  const Index rows = w.out[0] * w.out[1];
  const Index tap_floats = c.in_channels * fan_out(c);
  const Index work = w.out[2] * volume(w.size) * tap_floats;
  parallel_for(w.batch * rows, grain_of(work), [&](Index begin, Index end) {
    for (Index line = begin; line < end; ++line) {
      const float* image = data + line / rows * volume(w.in) * c.in_channels;
      float* to = result + line / rows * volume(w.out) * c.out_channels;
      visit_rows(
          w, line % rows, line % rows + 1,
          [&](Index out) { std::fill_n(to + out * c.out_channels, c.out_channels, 0.0F); },
          [&](Index out, Index in, Index tap) {
            add_pixel(c, image + in * c.in_channels, filter + tap * tap_floats,
                      to + out * c.out_channels);
          },
          kNothingAfter);
    }
  });
}

void back_input_direct(const Convolution& c, const float* gradient, const float* filter,
                       float* data) {
  const ops::Windows& w = c.windows;
  const Index tap_floats = c.in_channels * fan_out(c);
  // Windows overlap: an image is one thread's.
  const Index work = volume(w.out) * volume(w.size) * tap_floats;
  parallel_for(w.batch, grain_of(work), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const float* from = gradient + i * volume(w.out) * c.out_channels;
      float* image = data + i * volume(w.in) * c.in_channels;
      std::fill_n(image, volume(w.in) * c.in_channels, 0.0F);
      visit_rows(
          w, 0, w.out[0] * w.out[1], kNothingBefore,
          [&](Index out, Index in, Index tap) {
            add_pixel_to_input(c, from + out * c.out_channels, filter + tap * tap_floats,
                               image + in * c.in_channels);
          },
          kNothingAfter);
    }
  });
}

void back_filter_direct(const Convolution& c, const float* data, const float* gradient,
                        float* filter) {
  const ops::Windows& w = c.windows;
  const Index taps = volume(w.size);
  const Index tap_floats = c.in_channels * fan_out(c);
  const Index work = w.batch * volume(w.out) * tap_floats;
  // A thread looks at all windows and at its own taps.
  parallel_for(taps, grain_of(work), [&](Index begin, Index end) {
    std::fill(filter + begin * tap_floats, filter + end * tap_floats, 0.0F);
    for (Index i = 0; i < w.batch; ++i) {
      const float* image = data + i * volume(w.in) * c.in_channels;
      const float* from = gradient + i * volume(w.out) * c.out_channels;
      visit_rows(
          w, 0, w.out[0] * w.out[1], kNothingBefore,
          [&](Index out, Index in, Index tap) {
            if (tap < begin || tap >= end) return;
            add_pixel_to_filter(c, image + in * c.in_channels, from + out * c.out_channels,
                                filter + tap * tap_floats);
          },
          kNothingAfter);
    }
  });
}

}  // namespace ebb::cpu
