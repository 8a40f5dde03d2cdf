// Convolutions of planes with few channels, as first layers have them: products of matrices so narrow
// that tiles for those are mostly empty. The filter lies in shared memory.
//   forward, back data  a thread takes some pixels of a line with all their channels, or four where
//                       pixels are few. The way back is the way forward over the gradient, with the
//                       filter turned around.
//   back filter         a thread takes one tap and channel of the data with all channels of the
//                       gradient, for a part of the lines; the parts are added at the end.
#include "backends/cuda/plugin/kernels/activation.cuh"
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"

namespace ebb::cuda {
namespace {

using Index = std::int32_t;

constexpr int kBlock = 128;
constexpr std::int64_t kMostShared = 48 << 10;
constexpr std::int64_t kMostChannels = 32;  // of the result; each is a register for each pixel

// A window that moves by one: [batch, height, width, channels] to [.., results].
struct Plane {
  Index batch;
  Index height, width, channels;              // of what is read
  Index out_height, out_width, out_channels;  // of what is written, or of the gradient
  Index taps_y, taps_x;
  Index before_y, before_x;
  bool packed;  // what is written can be written four channels at a time
};

template <int kVector>
struct Pack {
  float at[kVector];
};

// `there` is false outside of the data: zero.
template <int kVector>
__device__ Pack<kVector> pack_at(const float* from, bool there) {
  Pack<kVector> made{};
  if (!there) return made;
  if constexpr (kVector == 4) {
    reinterpret_cast<float4&>(made) = __ldg(reinterpret_cast<const float4*>(from));
  } else {
    made.at[0] = __ldg(from);
  }
  return made;
}

// Into shared memory: [tap, channel read][kWide channels written], zero where there are no more.
template <bool kTurned, int kWide>
__device__ void take_filter(const Plane& p, Index first, const float* filter, float* into) {
  const Index taps = p.taps_y * p.taps_x;
  const Index count = taps * p.channels * kWide;
  for (Index i = static_cast<Index>(threadIdx.x); i < count; i += kBlock) {
    const Index column = first + i % kWide;
    const Index row = i / kWide;
    const Index tap = row / p.channels;
    const Index channel = row % p.channels;
    const Index from = kTurned ? ((taps - 1 - tap) * p.out_channels + column) * p.channels + channel
                               : row * p.out_channels + column;
    into[i] = column < p.out_channels ? __ldg(filter + from) : 0.0F;
  }
}

template <int kWide>
__device__ void put(const Plane& p, const float (&sums)[kWide], Index first, float* to,
                    const ChannelEpilogue& epilogue) {
  float values[kWide];
#pragma unroll
  for (int c = 0; c < kWide; ++c) {
    const bool biased = epilogue.bias != nullptr && first + c < p.out_channels;
    const float value = biased ? sums[c] + __ldg(epilogue.bias + first + c) : sums[c];
    values[c] = activated(epilogue.activation, value, epilogue.alpha, 0.0F);
  }
#pragma unroll
  for (int c = 0; c < kWide; c += 4) {
    if (p.packed) {
      if (first + c < p.out_channels) {
        *reinterpret_cast<float4*>(to + first + c) = reinterpret_cast<const float4&>(values[c]);
      }
      continue;
    }
#pragma unroll
    for (int v = c; v < c + 4; ++v) {
      if (first + v < p.out_channels) to[first + v] = values[v];
    }
  }
}

// Pixels out_x, out_x + step, ... of a line, with `kWide` channels from the first on. Neighbouring
// threads take neighbouring pixels, so that they read and write together.
template <int kWide, int kPixels, int kVector>
__device__ void convolve_run(const Plane& p, Index line, Index out_x, Index step, Index first,
                             const float* x, const float* weights, float* y,
                             const ChannelEpilogue& epilogue) {
  const Index top = line % p.out_height - p.before_y;
  const Index left = out_x - p.before_x;
  const float* image = x + line / p.out_height * p.height * p.width * p.channels;
  float sums[kPixels][kWide] = {};
  const float* row = weights;
  for (Index tap_y = 0; tap_y < p.taps_y; ++tap_y) {
    const Index in_y = top + tap_y;
    const bool in_plane = in_y >= 0 && in_y < p.height;
    for (Index tap_x = 0; tap_x < p.taps_x; ++tap_x) {
      const Index in_x = left + tap_x;
      const float* from = image + (in_y * p.width + in_x) * p.channels;
      for (Index channel = 0; channel < p.channels; channel += kVector) {
        Pack<kVector> pack[kPixels];
#pragma unroll
        for (int i = 0; i < kPixels; ++i) {
          const Index at = in_x + i * step;
          const bool there = in_plane && at >= 0 && at < p.width;
          pack[i] = pack_at<kVector>(from + i * step * p.channels + channel, there);
        }
#pragma unroll
        for (int v = 0; v < kVector; ++v, row += kWide) {
#pragma unroll
          for (int c = 0; c < kWide; c += 4) {
            const float4 weight = *reinterpret_cast<const float4*>(row + c);
#pragma unroll
            for (int i = 0; i < kPixels; ++i) {
              const float value = pack[i].at[v];
              sums[i][c] += value * weight.x;
              sums[i][c + 1] += value * weight.y;
              sums[i][c + 2] += value * weight.z;
              sums[i][c + 3] += value * weight.w;
            }
          }
        }
      }
    }
  }
  float* pixels = y + static_cast<std::int64_t>(line) * p.out_width * p.out_channels;
#pragma unroll
  for (int i = 0; i < kPixels; ++i) {
    const Index at = out_x + i * step;
    if (at < p.out_width) put(p, sums[i], first, pixels + at * p.out_channels, epilogue);
  }
}

template <bool kTurned, int kWide, int kPixels, int kVector>
__global__ void __launch_bounds__(kBlock)
    convolve_few_kernel(Plane p, const float* x, const float* filter, float* y,
                        ChannelEpilogue epilogue) {
  extern __shared__ float4 shared[];  // aligned for packs of four
  float* weights = reinterpret_cast<float*>(shared);
  const Index first = static_cast<Index>(blockIdx.y) * kWide;
  take_filter<kTurned, kWide>(p, first, filter, weights);
  __syncthreads();
  const Index runs = (p.out_width + kPixels - 1) / kPixels;  // in a line
  const Index all = p.batch * p.out_height * runs;
  for (Index run = static_cast<Index>(blockIdx.x) * kBlock + static_cast<Index>(threadIdx.x);
       run < all; run += static_cast<Index>(gridDim.x) * kBlock) {
    convolve_run<kWide, kPixels, kVector>(p, run / runs, run % runs, runs, first, x, weights, y,
                                          epilogue);
  }
}

// A block adds up `lines_a_block` lines of the gradient, its groups of `rows` threads in turns. A part
// is [channel of the gradient, row].
template <int kWide, int kVector>
__global__ void __launch_bounds__(256)
    filter_of_few_kernel(Plane p, Index lines_a_block, const float* x, const float* dy,
                         float* parts) {
  extern __shared__ float4 shared[];
  const Index rows = p.taps_y * p.taps_x * p.channels;
  const auto threads = static_cast<Index>(blockDim.x);
  const Index row = static_cast<Index>(threadIdx.x) % rows;
  const Index group = static_cast<Index>(threadIdx.x) / rows;
  const Index groups = threads / rows;
  const Index tap = row / p.channels;
  const Index tap_y = tap / p.taps_x - p.before_y;
  const Index tap_x = tap % p.taps_x - p.before_x;
  const Index channel = row % p.channels;
  const Index lines = p.batch * p.out_height;
  const Index begin = static_cast<Index>(blockIdx.x) * lines_a_block;
  const Index end = min(lines, begin + lines_a_block);
  float sums[kWide] = {};
  for (Index line = begin; line < end && group < groups; ++line) {
    const Index in_y = line % p.out_height + tap_y;
    if (in_y < 0 || in_y >= p.height) continue;
    const float* from =
        x + (line / p.out_height * p.height + in_y) * p.width * p.channels + channel;
    const float* gradient = dy + line * p.out_width * p.out_channels;
#pragma unroll 4  // several loads on their way
    for (Index out_x = group; out_x < p.out_width; out_x += groups) {
      const Index in_x = out_x + tap_x;
      const bool there = in_x >= 0 && in_x < p.width;
      const float value = there ? __ldg(from + in_x * p.channels) : 0.0F;
      const float* pixel = gradient + out_x * p.out_channels;
#pragma unroll
      for (int c = 0; c < kWide; c += kVector) {
        const Pack<kVector> pack = pack_at<kVector>(pixel + c, c < p.out_channels);
#pragma unroll
        for (int v = 0; v < kVector; ++v) sums[c + v] += value * pack.at[v];
      }
    }
  }
  // The groups' sums, a channel at a time, in the order of the groups.
  float* room = reinterpret_cast<float*>(shared);
  float* part = parts + static_cast<std::int64_t>(blockIdx.x) * rows * p.out_channels;
#pragma unroll
  for (int c = 0; c < kWide; ++c) {
    __syncthreads();
    room[threadIdx.x] = sums[c];
    __syncthreads();
    if (group == 0 && c < p.out_channels) {
      float sum = 0.0F;
      for (Index i = 0; i < groups; ++i) sum += room[i * rows + row];
      part[c * rows + row] = sum;
    }
  }
}

bool is_aligned(const float* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

// Shared memory of the way that moves over pixels; what it reads and writes changes places for back
// data.
std::int64_t shared_bytes(const Plane& p, std::int64_t wide) {
  return std::int64_t{p.taps_y} * p.taps_x * p.channels * wide * std::int64_t{sizeof(float)};
}

template <bool kTurned, int kWide, int kPixels>
void launch_pixels(Call& call, const Plane& p, const float* x, const float* filter, float* y,
                   const ChannelEpilogue& epilogue) {
  const std::int64_t runs =
      std::int64_t{p.batch} * p.out_height * ((p.out_width + kPixels - 1) / kPixels);
  // Each block takes the filter once.
  const dim3 blocks(blocks_for(runs, kBlock, 4 * kWave),
                    static_cast<unsigned>((p.out_channels + kWide - 1) / kWide));
  const auto shared = static_cast<std::size_t>(shared_bytes(p, kWide));
  if (p.channels % 4 == 0 && is_aligned(x)) {
    convolve_few_kernel<kTurned, kWide, kPixels, 4>
        <<<blocks, kBlock, shared, call.stream()>>>(p, x, filter, y, epilogue);
  } else {
    convolve_few_kernel<kTurned, kWide, kPixels, 1>
        <<<blocks, kBlock, shared, call.stream()>>>(p, x, filter, y, epilogue);
  }
  launched("convolution with few channels");
}

constexpr std::int64_t kEnough = kWave * kBlock;  // threads that keep the device busy

std::int64_t pixels_of(const Plane& p) {
  return std::int64_t{p.batch} * p.out_height * p.out_width;
}

template <bool kTurned, int kWide>
void launch_wide(Call& call, const Plane& p, const float* x, const float* filter, float* y,
                 const ChannelEpilogue& epilogue) {
  constexpr int kMany = kWide > 16 ? 2 : 4;
  return pixels_of(p) >= kMany * kEnough
             ? launch_pixels<kTurned, kWide, kMany>(call, p, x, filter, y, epilogue)
             : launch_pixels<kTurned, kWide, 1>(call, p, x, filter, y, epilogue);
}

template <bool kTurned>
void launch_plane(Call& call, Plane p, const float* x, const float* filter, float* y,
                  const ChannelEpilogue& epilogue) {
  p.packed = p.out_channels % 4 == 0 && is_aligned(y);
  if (p.out_channels <= 4 || pixels_of(p) < kEnough) {
    return launch_wide<kTurned, 4>(call, p, x, filter, y, epilogue);
  }
  if (p.out_channels <= 8) return launch_wide<kTurned, 8>(call, p, x, filter, y, epilogue);
  if (p.out_channels <= 16) return launch_wide<kTurned, 16>(call, p, x, filter, y, epilogue);
  return launch_wide<kTurned, 32>(call, p, x, filter, y, epilogue);
}

constexpr Index kMostRows = 256;  // of a filter's gradient: each has a thread
constexpr Index kParts = 792;     // six blocks for each multiprocessor: they wait for memory
constexpr Index kLeastLines = 2;  // a part is also work to add

Index rows_of(const Plane& p) { return p.taps_y * p.taps_x * p.channels; }

template <int kWide>
void launch_filter(Call& call, const Plane& p, const float* x, const float* dy, float* filter) {
  const Index lines = p.batch * p.out_height;
  const Index lines_a_block = std::max((lines + kParts - 1) / kParts, std::min(lines, kLeastLines));
  const auto blocks = static_cast<unsigned>((lines + lines_a_block - 1) / lines_a_block);
  const std::int64_t count = std::int64_t{rows_of(p)} * p.out_channels;
  float* parts = call.workspace<float>(
      checked_product({static_cast<std::size_t>(count), std::size_t{blocks}}));
  const std::size_t shared = kMostRows * sizeof(float);
  if (p.out_channels % 4 == 0 && is_aligned(dy)) {
    filter_of_few_kernel<kWide, 4>
        <<<blocks, kMostRows, shared, call.stream()>>>(p, lines_a_block, x, dy, parts);
  } else {
    filter_of_few_kernel<kWide, 1>
        <<<blocks, kMostRows, shared, call.stream()>>>(p, lines_a_block, x, dy, parts);
  }
  launched("filter's gradient with few channels");
  sum_parts(call, parts, blocks, count, filter, rows_of(p));
}

// What is read and what is written, for the direction.
Plane plane_of(const ops::Convolution& c, Direction direction) {
  const ops::Windows& w = c.windows;
  const auto at = [](std::int64_t value) { return static_cast<Index>(value); };
  Plane p{at(w.batch),   at(w.in[0]),     at(w.in[1]),        at(c.in_channels),
          at(w.out[0]),  at(w.out[1]),    at(c.out_channels), at(w.size[0]),
          at(w.size[1]), at(w.before[0]), at(w.before[1]),    false};
  if (direction != Direction::kBackData) return p;
  std::swap(p.height, p.out_height);
  std::swap(p.width, p.out_width);
  std::swap(p.channels, p.out_channels);
  p.before_y = p.taps_y - 1 - p.before_y;
  p.before_x = p.taps_x - 1 - p.before_x;
  return p;
}

int wide_of(const Plane& p) {
  return p.out_channels <= 4 ? 4 : p.out_channels <= 8 ? 8 : p.out_channels <= 16 ? 16 : 32;
}

}  // namespace

bool has_few_channels(const ops::Convolution& c, Direction direction) {
  const ops::Windows& w = c.windows;
  if (c.depthwise || c.channels_first || w.axes != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (w.stride[i] != 1 || w.dilation[i] != 1) return false;
  }
  const std::int64_t channels = std::max(c.in_channels, c.out_channels);
  if (channels > kMostChannels || !fits_32_bits(w, channels)) return false;
  const Plane p = plane_of(c, direction);
  return direction == Direction::kBackFilter ? rows_of(p) <= kMostRows
                                             : shared_bytes(p, wide_of(p)) <= kMostShared;
}

void convolve_few(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                  const ChannelEpilogue& epilogue) {
  const Plane p = plane_of(c, data.direction);
  switch (data.direction) {
    case Direction::kForward:
      return launch_plane<false>(call, p, data.x, data.filter, data.y, epilogue);
    case Direction::kBackData:
      return launch_plane<true>(call, p, data.y, data.filter, data.x, {});
    case Direction::kBackFilter:
      if (p.out_channels <= 8) return launch_filter<8>(call, p, data.x, data.y, data.filter);
      if (p.out_channels <= 16) return launch_filter<16>(call, p, data.x, data.y, data.filter);
      return launch_filter<32>(call, p, data.x, data.y, data.filter);
  }
}

}  // namespace ebb::cuda
