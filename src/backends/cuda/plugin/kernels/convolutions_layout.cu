// Filters as cuDNN wants them, and data with its padding written out: cuDNN pads alike on both
// sides.
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"

namespace ebb::cuda {
namespace {

using Index = std::int64_t;

// [taps, in, out] on one side; the other's steps for each of the three.
struct FilterSteps {
  Index count, in, out;
  Index tap_step, in_step, out_step;
};

template <bool kToCudnn>
__global__ void reorder_filter(FilterSteps s, const float* from, float* to) {
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < s.count;
       i += static_cast<Index>(gridDim.x) * blockDim.x) {
    const Index out = i % s.out;
    const Index in = i / s.out % s.in;
    const Index tap = i / s.out / s.in;
    const Index other = tap * s.tap_step + in * s.in_step + out * s.out_step;
    if constexpr (kToCudnn) {
      to[other] = from[i];
    } else {
      to[i] = from[other];
    }
  }
}

FilterSteps filter_steps(const ops::Convolution& c) {
  Index taps = 1;
  for (std::size_t i = 0; i < c.windows.axes; ++i) taps *= c.windows.size[i];
  FilterSteps s{taps * c.in_channels * c.out_channels, c.in_channels, c.out_channels, 0, 0, 0};
  s.tap_step = c.channels_first ? 1 : c.in_channels;
  s.in_step = c.channels_first ? taps : 1;
  s.out_step = taps * c.in_channels;
  return s;
}

struct Padding {
  Index count;     // elements of what is written
  Index outer;     // images, or images and channels
  Index inner;     // channels, or 1
  Index from[3];   // extents of what is read
  Index to[3];     // of what is written
  Index shift[3];  // a position there, less this, is the one here
};

__global__ void shift_data(Padding p, const float* from, float* to) {
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.count;
       i += static_cast<Index>(gridDim.x) * blockDim.x) {
    const Element<Index> at = element_at(p.to, p.inner, i);
    const Index z = at.z - p.shift[0];
    const Index y = at.y - p.shift[1];
    const Index x = at.x - p.shift[2];
    const bool there =
        z >= 0 && z < p.from[0] && y >= 0 && y < p.from[1] && x >= 0 && x < p.from[2];
    to[i] = there ? from[(((at.image * p.from[0] + z) * p.from[1] + y) * p.from[2] + x) * p.inner +
                         at.channel]
                  : 0.0F;
  }
}

void launch_shift(Call& call, const ops::Convolution& c, const ops::Spatial& padded, bool write,
                  const float* from, float* to) {
  const Volume<Index> w = volume_of<Index>(c.windows);
  const std::size_t missing = 3 - c.windows.axes;
  Padding p{};
  p.outer = c.windows.batch * (c.channels_first ? c.in_channels : 1);
  p.inner = c.channels_first ? 1 : c.in_channels;
  p.count = p.outer * p.inner;
  for (std::size_t i = 0; i < 3; ++i) {
    const Index wide = i < missing ? 1 : padded[i - missing];
    p.from[i] = write ? w.in[i] : wide;
    p.to[i] = write ? wide : w.in[i];
    p.shift[i] = write ? w.before[i] : -w.before[i];
    p.count *= p.to[i];
  }
  if (p.count == 0) return;
  shift_data<<<blocks_for(p.count), kThreads, 0, call.stream()>>>(p, from, to);
  launched("padding of a convolution");
}

}  // namespace

void filter_to_cudnn(Call& call, const ops::Convolution& c, const float* from, float* to) {
  const FilterSteps s = filter_steps(c);
  reorder_filter<true><<<blocks_for(s.count), kThreads, 0, call.stream()>>>(s, from, to);
  launched("order of a filter");
}

void filter_from_cudnn(Call& call, const ops::Convolution& c, const float* from, float* to) {
  const FilterSteps s = filter_steps(c);
  reorder_filter<false><<<blocks_for(s.count), kThreads, 0, call.stream()>>>(s, from, to);
  launched("order of a filter");
}

void write_padded(Call& call, const ops::Convolution& c, const ops::Spatial& extents,
                  const float* from, float* to) {
  launch_shift(call, c, extents, true, from, to);
}

void read_padded(Call& call, const ops::Convolution& c, const ops::Spatial& extents,
                 const float* from, float* to) {
  launch_shift(call, c, extents, false, from, to);
}

}  // namespace ebb::cuda
