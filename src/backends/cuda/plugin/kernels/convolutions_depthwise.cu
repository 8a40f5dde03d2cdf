// Depthwise convolutions: each channel has filters of its own, so there is little to multiply and
// nothing to tile. Channel `c` of the data gives channels c * multiplier and on of the result.
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/finish.cuh"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"

namespace ebb::cuda {
namespace {

template <typename Index>
struct Shape {
  Volume<Index> w;
  Index in_channels, out_channels, multiplier;
  bool channels_first;
};

// Where [image, position, channel] lies.
template <typename Index>
__device__ inline Index address(const Shape<Index>& s, Index pixels, Index channels, Index image,
                                Index pixel, Index channel) {
  return s.channels_first ? (image * channels + channel) * pixels + pixel
                          : (image * pixels + pixel) * channels + channel;
}

// The other way round, from an element's number in memory.
template <typename Index>
__device__ inline Element<Index> element_of(const Shape<Index>& s, const Index (&extents)[3],
                                            Index channels, Index i) {
  if (!s.channels_first) return element_at(extents, channels, i);
  Element<Index> at = element_at(extents, Index{1}, i);
  at.channel = at.image % channels;
  at.image /= channels;
  return at;
}

template <typename Index>
__global__ void depthwise_forward(Shape<Index> s, const float* x, const float* filter, float* y,
                                  Finish finish) {
  const Index count = s.w.batch * positions(s.w.out) * s.out_channels;
  const Index in_pixels = positions(s.w.in);
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<Index>(gridDim.x) * blockDim.x) {
    const Element<Index> at = element_of(s, s.w.out, s.out_channels, i);
    const Index channel = at.channel / s.multiplier;
    float sum = 0.0F;
    for_each_tap(s.w, at.z, at.y, at.x, [&](Index in, Index tap) {
      sum += x[address(s, in_pixels, s.in_channels, at.image, in, channel)] *
             __ldg(filter + tap * s.out_channels + at.channel);
    });
    y[i] = finished(finish, numbers_of(finish, ask_for(finish, at.channel)), sum, i);
  }
}

constexpr int kPack = 4;

struct alignas(16) Pack {
  float each[kPack];
};

// Channels last, one filter a channel, planes: four channels a thread, kSize x kSize taps or (0) any number, in the same
// order.
template <int kSize>
__global__ void __launch_bounds__(kThreads)
    depthwise_packs(Shape<std::int32_t> s, const float* x, const float* filter, float* y,
                    Finish finish) {
  const std::int32_t packs = s.out_channels / kPack;
  const std::int32_t count = s.w.batch * positions(s.w.out) * packs;
  const std::int32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const Element<std::int32_t> at = element_at(s.w.out, packs, i);
  const std::int32_t channel = at.channel * kPack;
  const std::int32_t top = at.y * s.w.stride[1] - s.w.before[1];
  const std::int32_t left = at.x * s.w.stride[2] - s.w.before[2];
  const float* image = x + std::int64_t{at.image} * positions(s.w.in) * s.in_channels + channel;
  const std::int32_t down = kSize > 0 ? kSize : s.w.size[1];
  const std::int32_t across = kSize > 0 ? kSize : s.w.size[2];
  AskedNumbers asked[kPack];
#pragma unroll
  for (int c = 0; c < kPack; ++c) asked[c] = ask_for(finish, channel + c);
  float sums[kPack] = {};
#pragma unroll
  for (std::int32_t j = 0; j < down; ++j) {
    const std::int32_t row = top + j * s.w.dilation[1];
    const std::int32_t near_row = min(max(row, 0), s.w.in[1] - 1);
#pragma unroll
    for (std::int32_t k = 0; k < across; ++k) {
      const std::int32_t column = left + k * s.w.dilation[2];
      // What is not there is read from beside it and left out: without branches all loads are on their way at once.
      const std::int32_t near_column = min(max(column, 0), s.w.in[2] - 1);
      const bool is_there = row == near_row && column == near_column;
      const auto data = *reinterpret_cast<const Pack*>(
          image + (std::int64_t{near_row} * s.w.in[2] + near_column) * s.in_channels);
      const auto taps = *reinterpret_cast<const Pack*>(
          filter + std::int64_t{j * across + k} * s.out_channels + channel);
#pragma unroll
      for (int c = 0; c < kPack; ++c) {
        const float more = sums[c] + data.each[c] * taps.each[c];
        sums[c] = is_there ? more : sums[c];
      }
    }
  }
  Pack made;
#pragma unroll
  for (int c = 0; c < kPack; ++c) {
    made.each[c] =
        finished(finish, numbers_of(finish, asked[c]), sums[c], std::int64_t{i} * kPack + c);
  }
  reinterpret_cast<Pack*>(y)[i] = made;
}

bool takes_packs(const ops::Convolution& c, const ConvolutionData& data) {
  const auto aligned = [](const float* p) {
    return reinterpret_cast<std::uintptr_t>(p) % sizeof(Pack) == 0;
  };
  return !c.channels_first && c.windows.axes == 2 && c.in_channels == c.out_channels &&
         c.out_channels % kPack == 0 && aligned(data.x) && aligned(data.filter) && aligned(data.y);
}

void launch_packs(Call& call, const Shape<std::int32_t>& s, const ConvolutionData& data,
                  const Finish& finish) {
  const bool three = s.w.size[1] == 3 && s.w.size[2] == 3;
  const bool five = s.w.size[1] == 5 && s.w.size[2] == 5;
  const auto kernel = three ? depthwise_packs<3> : five ? depthwise_packs<5> : depthwise_packs<0>;
  const std::int64_t packs = elements(call.output(0)) / kPack;
  kernel<<<blocks_for(packs), kThreads, 0, call.stream()>>>(s, data.x, data.filter, data.y, finish);
  launched("depthwise convolution");
}

template <typename Index>
__global__ void depthwise_back_data(Shape<Index> s, const float* dy, const float* filter,
                                    float* dx) {
  const Index count = s.w.batch * positions(s.w.in) * s.in_channels;
  const Index out_pixels = positions(s.w.out);
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<Index>(gridDim.x) * blockDim.x) {
    const Element<Index> at = element_of(s, s.w.in, s.in_channels, i);
    const Index own[3] = {at.z, at.y, at.x};
    float sum = 0.0F;
    for_each_window(s.w, at.z, at.y, at.x, [&](Index out) {
      const Index row = out / s.w.out[2];
      const Index window[3] = {row / s.w.out[1], row % s.w.out[1], out % s.w.out[2]};
      Index tap = 0;
      for (int axis = 0; axis < 3; ++axis) {
        tap = tap * s.w.size[axis] + tap_at(s.w, axis, window[axis], own[axis]);
      }
      for (Index q = 0; q < s.multiplier; ++q) {
        const Index channel = at.channel * s.multiplier + q;
        sum += dy[address(s, out_pixels, s.out_channels, at.image, out, channel)] *
               __ldg(filter + tap * s.out_channels + channel);
      }
    });
    dx[i] = sum;
  }
}

constexpr int kLanes = 32;  // channels of a block
constexpr int kGroups = 8;  // that share a block's windows

// A block has one tap and 32 channels, for a part of all windows.
template <typename Index>
__global__ void __launch_bounds__(kLanes* kGroups)
    depthwise_back_filter(Shape<Index> s, Index windows_a_part, const float* x, const float* dy,
                          float* parts) {
  __shared__ float shared[kGroups][kLanes];
  const Index channel = static_cast<Index>(blockIdx.x) * kLanes + threadIdx.x;
  const Index tap = blockIdx.y;
  const Index pixels = positions(s.w.out);
  const Index begin = static_cast<Index>(blockIdx.z) * windows_a_part;
  const Index end = min(s.w.batch * pixels, begin + windows_a_part);
  const Index by[3] = {tap / s.w.size[2] / s.w.size[1] * s.w.dilation[0],
                       tap / s.w.size[2] % s.w.size[1] * s.w.dilation[1],
                       tap % s.w.size[2] * s.w.dilation[2]};
  float sum = 0.0F;
  for (Index i = begin + threadIdx.y; channel < s.out_channels && i < end; i += kGroups) {
    const Element<Index> at = element_at(s.w.out, Index{1}, i);
    const Index z = at.z * s.w.stride[0] - s.w.before[0] + by[0];
    const Index y = at.y * s.w.stride[1] - s.w.before[1] + by[1];
    const Index left = at.x * s.w.stride[2] - s.w.before[2] + by[2];
    if (z < 0 || z >= s.w.in[0] || y < 0 || y >= s.w.in[1] || left < 0 || left >= s.w.in[2]) {
      continue;
    }
    const Index in = (z * s.w.in[1] + y) * s.w.in[2] + left;
    sum += x[address(s, positions(s.w.in), s.in_channels, at.image, in, channel / s.multiplier)] *
           dy[address(s, pixels, s.out_channels, at.image, i % pixels, channel)];
  }
  shared[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || channel >= s.out_channels) return;
  for (int i = 1; i < kGroups; ++i) sum += shared[i][threadIdx.x];
  parts[(blockIdx.z * static_cast<std::int64_t>(gridDim.y) + tap) * s.out_channels + channel] = sum;
}

template <typename Index>
void launch_back_filter(Call& call, const Shape<Index>& s, const ConvolutionData& data) {
  constexpr std::int64_t kBlocks = 512;
  constexpr std::int64_t kLeast = 256;
  const std::int64_t windows = static_cast<std::int64_t>(s.w.batch) * positions(s.w.out);
  dim3 grid(static_cast<unsigned>((s.out_channels + kLanes - 1) / kLanes),
            static_cast<unsigned>(positions(s.w.size)), 1);
  const std::int64_t wanted = std::max<std::int64_t>(1, kBlocks / (std::int64_t{grid.x} * grid.y));
  const std::int64_t part_count = std::min(wanted, std::max<std::int64_t>(1, windows / kLeast));
  const std::int64_t a_part = (windows + part_count - 1) / part_count;
  grid.z = static_cast<unsigned>((windows + a_part - 1) / a_part);
  const std::int64_t count = static_cast<std::int64_t>(grid.y) * s.out_channels;
  float* parts =
      grid.z == 1
          ? data.filter
          : call.workspace<float>(checked_product({grid.z, static_cast<std::size_t>(count)}));
  depthwise_back_filter<<<grid, dim3(kLanes, kGroups), 0, call.stream()>>>(
      s, static_cast<Index>(a_part), data.x, data.y, parts);
  launched("depthwise convolution");
  if (parts != data.filter) sum_parts(call, parts, grid.z, count, data.filter);
}

template <typename Index>
void launch(Call& call, const ops::Convolution& c, const ConvolutionData& data,
            const Finish& finish) {
  const Shape<Index> s{volume_of<Index>(c.windows), static_cast<Index>(c.in_channels),
                       static_cast<Index>(c.out_channels),
                       static_cast<Index>(c.out_channels / c.in_channels), c.channels_first};
  if (data.direction == Direction::kBackFilter) return launch_back_filter(call, s, data);
  if constexpr (sizeof(Index) == sizeof(std::int32_t)) {
    if (data.direction == Direction::kForward && takes_packs(c, data)) {
      return launch_packs(call, s, data, finish);
    }
  }
  const unsigned blocks = blocks_for(elements(call.output(0)));
  if (data.direction == Direction::kForward) {
    depthwise_forward<<<blocks, kThreads, 0, call.stream()>>>(s, data.x, data.filter, data.y,
                                                              finish);
  } else {
    depthwise_back_data<<<blocks, kThreads, 0, call.stream()>>>(s, data.y, data.filter, data.x);
  }
  launched("depthwise convolution");
}

}  // namespace

void convolve_depthwise(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                        const Finish& finish) {
  return fits_32_bits(c.windows, c.out_channels) ? launch<std::int32_t>(call, c, data, finish)
                                                 : launch<std::int64_t>(call, c, data, finish);
}

}  // namespace ebb::cuda
