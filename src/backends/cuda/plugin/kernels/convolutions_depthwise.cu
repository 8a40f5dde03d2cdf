// Depthwise convolutions: each channel has filters of its own, so there is little to multiply and
// nothing to tile. Channel `c` of the data gives channels c * multiplier and on of the result.
#include "backends/cuda/plugin/kernels/activation.cuh"
#include "backends/cuda/plugin/kernels/convolutions.hpp"
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
                                  ChannelEpilogue epilogue) {
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
    if (epilogue.bias != nullptr) sum += __ldg(epilogue.bias + at.channel);
    y[i] = activated(epilogue.activation, sum, epilogue.alpha, 0.0F);
  }
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
            const ChannelEpilogue& epilogue) {
  const Shape<Index> s{volume_of<Index>(c.windows), static_cast<Index>(c.in_channels),
                       static_cast<Index>(c.out_channels),
                       static_cast<Index>(c.out_channels / c.in_channels), c.channels_first};
  if (data.direction == Direction::kBackFilter) return launch_back_filter(call, s, data);
  const unsigned blocks = blocks_for(elements(call.output(0)));
  if (data.direction == Direction::kForward) {
    depthwise_forward<<<blocks, kThreads, 0, call.stream()>>>(s, data.x, data.filter, data.y,
                                                              epilogue);
  } else {
    depthwise_back_data<<<blocks, kThreads, 0, call.stream()>>>(s, data.y, data.filter, data.x);
  }
  launched("depthwise convolution");
}

}  // namespace

void convolve_depthwise(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                        const ChannelEpilogue& epilogue) {
  return fits_32_bits(c.windows, c.out_channels) ? launch<std::int32_t>(call, c, data, epilogue)
                                                 : launch<std::int64_t>(call, c, data, epilogue);
}

}  // namespace ebb::cuda
