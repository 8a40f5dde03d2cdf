// Convolutions as products of tiles whose left-hand operand is looked up instead of written out.
// All three directions are one kernel:
//   forward       result [batch and window, out channel], over [tap, in channel] of data and filter
//   back data     result [batch and pixel, in channel],   over [tap, out channel] of gradient and
//   filter back filter   result [tap and in channel, out channel], over [batch and window] of data
//   and gradient
#include "backends/cuda/plugin/kernels/activation.cuh"
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"

namespace ebb::cuda {
namespace {

constexpr int kRows = 64;    // of the result a block computes
constexpr int kInner = 16;   // of the inner axis at a time
constexpr int kBlock = 256;  // 16 x 16 threads

// How data lies in memory: steps in elements.
template <typename Index>
struct Steps {
  Index image, pixel, channel;
};

template <typename Index>
struct Shape {
  Volume<Index> w;
  Index in_channels, out_channels;
  Steps<Index> x, y;
  Index rows, inner, columns;
  Index inner_a_part;  // back filter: the inner axis is cut, a part for each z of the grid
};

// A place the window is at: [image, z, y, x] of results, or of data for the way back.
template <typename Index>
struct Place {
  Index base;
  Index at[3];
  bool valid;
};
// What moves against it: a tap and a channel.
template <typename Index>
struct Reach {
  Index by[3];
  Index channel;
  bool valid;
};

template <Direction kDirection, typename Index>
__device__ inline Place<Index> place_of(const Shape<Index>& s, Index i, Index count) {
  constexpr bool kBack = kDirection == Direction::kBackData;
  Place<Index> made{};
  made.valid = i < count;
  if (!made.valid) return made;
  const auto& extents = kBack ? s.w.in : s.w.out;
  const Element<Index> at = element_at(extents, Index{1}, i);
  const Index where[3] = {at.z, at.y, at.x};
  for (int axis = 0; axis < 3; ++axis) {
    made.at[axis] =
        kBack ? where[axis] + s.w.before[axis] : where[axis] * s.w.stride[axis] - s.w.before[axis];
  }
  made.base = at.image * (kBack ? s.y.image : s.x.image);
  return made;
}

template <Direction kDirection, typename Index>
__device__ inline Reach<Index> reach_of(const Shape<Index>& s, Index i, Index count) {
  constexpr bool kBack = kDirection == Direction::kBackData;
  Reach<Index> made{};
  made.valid = i < count;
  if (!made.valid) return made;
  const Index channels = kBack ? s.out_channels : s.in_channels;
  Index tap = i / channels;
  made.channel = i % channels * (kBack ? s.y.channel : s.x.channel);
  for (int axis = 2; axis >= 0; --axis) {
    made.by[axis] = tap % s.w.size[axis] * s.w.dilation[axis];
    tap /= s.w.size[axis];
  }
  return made;
}

// The looked-up operand: data for the ways forward and to the filter, the gradient for the way
// back.
template <Direction kDirection, typename Index>
__device__ inline float look_up(const Shape<Index>& s, const float* from, const Place<Index>& place,
                                const Reach<Index>& reach) {
  if (!place.valid || !reach.valid) return 0.0F;
  Index pixel = 0;
  for (int axis = 0; axis < 3; ++axis) {
    Index at;
    if constexpr (kDirection == Direction::kBackData) {
      const Index distance = place.at[axis] - reach.by[axis];
      at = distance / s.w.stride[axis];
      if (distance < 0 || at * s.w.stride[axis] != distance || at >= s.w.out[axis]) return 0.0F;
      pixel = pixel * s.w.out[axis] + at;
    } else {
      at = place.at[axis] + reach.by[axis];
      if (at < 0 || at >= s.w.in[axis]) return 0.0F;
      pixel = pixel * s.w.in[axis] + at;
    }
  }
  const Index step = kDirection == Direction::kBackData ? s.y.pixel : s.x.pixel;
  return __ldg(from + place.base + pixel * step + reach.channel);
}

// Where the result's element [place, channel] lies.
template <typename Index>
__device__ inline Index result_at(const Index (&extents)[3], const Steps<Index>& steps, Index place,
                                  Index channel) {
  const Index pixels = positions(extents);
  return place / pixels * steps.image + place % pixels * steps.pixel + channel * steps.channel;
}

// The right-hand operand at [inner, column].
template <Direction kDirection, typename Index>
__device__ inline float right_at(const Shape<Index>& s, const float* b, Index inner, Index column) {
  if constexpr (kDirection == Direction::kForward) {
    return __ldg(b + inner * s.out_channels + column);
  } else if constexpr (kDirection == Direction::kBackData) {
    const Index tap = inner / s.out_channels;
    const Index out = inner % s.out_channels;
    return __ldg(b + (tap * s.in_channels + column) * s.out_channels + out);
  } else {
    return __ldg(b + result_at(s.w.out, s.y, inner, column));
  }
}

template <Direction kDirection, int kColumns, typename Index>
__global__ void __launch_bounds__(kBlock)
    convolve_tiles(Shape<Index> s, const float* a, const float* b, float* result,
                   ChannelEpilogue epilogue) {
  constexpr bool kToFilter = kDirection == Direction::kBackFilter;
  constexpr int kWide = 16 * kColumns;
  constexpr int kLooks = kRows * kInner / kBlock;  // of the left-hand tile, for each thread
  __shared__ float left[kInner][kRows + 1];
  __shared__ float right[kInner][kWide + 1];
  const Index row0 = static_cast<Index>(blockIdx.x) * kRows;
  const Index column0 = static_cast<Index>(blockIdx.y) * kWide;
  const Index begin = kToFilter ? static_cast<Index>(blockIdx.z) * s.inner_a_part : 0;
  const Index end = kToFilter ? min(s.inner, begin + s.inner_a_part) : s.inner;
  // Which of the left-hand tile this thread looks up: one of the inner axis and four rows; for the
  // filter's gradient one row and four of the inner axis. Rows stay, so they are worked out here.
  const int own_inner = kToFilter ? threadIdx.x / kRows : threadIdx.x % kInner;
  const int own_row = kToFilter ? threadIdx.x % kRows : threadIdx.x / kInner;
  Place<Index> places[kToFilter ? 1 : kLooks];
  Reach<Index> row_reach{};
  if constexpr (kToFilter) {
    row_reach = reach_of<kDirection>(s, static_cast<Index>(row0 + own_row), s.rows);
  } else {
    for (int i = 0; i < kLooks; ++i) {
      places[i] = place_of<kDirection>(s, static_cast<Index>(row0 + own_row + 16 * i), s.rows);
    }
  }
  const int tx = threadIdx.x % 16;
  const int ty = threadIdx.x / 16;
  float sums[4][kColumns] = {};
  for (Index k0 = begin; k0 < end; k0 += kInner) {
    if constexpr (kToFilter) {
      for (int i = 0; i < kLooks; ++i) {
        const Place<Index> place =
            place_of<kDirection>(s, static_cast<Index>(k0 + own_inner + 4 * i), end);
        left[own_inner + 4 * i][own_row] = look_up<kDirection>(s, a, place, row_reach);
      }
    } else {
      const Reach<Index> reach = reach_of<kDirection>(s, static_cast<Index>(k0 + own_inner), end);
      for (int i = 0; i < kLooks; ++i) {
        left[own_inner][own_row + 16 * i] = look_up<kDirection>(s, a, places[i], reach);
      }
    }
    for (int i = threadIdx.x; i < kWide * kInner; i += kBlock) {
      const int column = i % kWide;
      const int inner = i / kWide;
      const bool there = column0 + column < s.columns && k0 + inner < end;
      right[inner][column] = there ? right_at<kDirection>(s, b, static_cast<Index>(k0 + inner),
                                                          static_cast<Index>(column0 + column))
                                   : 0.0F;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kInner; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          sums[i][j] += left[k][ty + 16 * i] * right[k][tx + 16 * j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      const Index row = row0 + ty + 16 * i;
      const Index column = column0 + tx + 16 * j;
      if (row >= s.rows || column >= s.columns) continue;
      if constexpr (kToFilter) {
        result[(blockIdx.z * static_cast<std::int64_t>(s.rows) + row) * s.columns + column] =
            sums[i][j];
      } else if constexpr (kDirection == Direction::kBackData) {
        result[result_at(s.w.in, s.x, row, column)] = sums[i][j];
      } else {
        const float bias = epilogue.bias != nullptr ? __ldg(epilogue.bias + column) : 0.0F;
        const float value = epilogue.bias != nullptr ? sums[i][j] + bias : sums[i][j];
        result[result_at(s.w.out, s.y, row, column)] =
            activated(epilogue.activation, value, epilogue.alpha, 0.0F);
      }
    }
  }
}

__global__ void add_parts(const float* parts, std::int64_t part_count, std::int64_t count,
                          float* result) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    float sum = 0.0F;
    for (std::int64_t part = 0; part < part_count; ++part) sum += parts[part * count + i];
    result[i] = sum;
  }
}

template <typename Index>
Steps<Index> steps_of(Index pixels, Index channels, bool channels_first) {
  return {pixels * channels, channels_first ? Index{1} : channels,
          channels_first ? pixels : Index{1}};
}

template <typename Index>
Shape<Index> shape_of(const ops::Convolution& c, Direction direction) {
  Shape<Index> s{};
  s.w = volume_of<Index>(c.windows);
  s.in_channels = static_cast<Index>(c.in_channels);
  s.out_channels = static_cast<Index>(c.out_channels);
  s.x = steps_of(positions(s.w.in), s.in_channels, c.channels_first);
  s.y = steps_of(positions(s.w.out), s.out_channels, c.channels_first);
  const Index taps = positions(s.w.size);
  switch (direction) {
    case Direction::kForward:
      s.rows = s.w.batch * positions(s.w.out);
      s.inner = taps * s.in_channels;
      s.columns = s.out_channels;
      break;
    case Direction::kBackData:
      s.rows = s.w.batch * positions(s.w.in);
      s.inner = taps * s.out_channels;
      s.columns = s.in_channels;
      break;
    case Direction::kBackFilter:
      s.rows = taps * s.in_channels;
      s.inner = s.w.batch * positions(s.w.out);
      s.columns = s.out_channels;
      break;
  }
  s.inner_a_part = s.inner;
  return s;
}

template <Direction kDirection, int kColumns, typename Index>
void launch(Call& call, Shape<Index> s, const float* a, const float* b, float* result,
            const ChannelEpilogue& epilogue) {
  dim3 grid(static_cast<unsigned>((s.rows + kRows - 1) / kRows),
            static_cast<unsigned>((s.columns + 16 * kColumns - 1) / (16 * kColumns)), 1);
  float* parts = result;
  if constexpr (kDirection == Direction::kBackFilter) {
    // Enough blocks to keep the device busy, each with work worth starting it for.
    constexpr std::int64_t kBlocks = 512;
    constexpr std::int64_t kLeast = 256;
    const std::int64_t wanted =
        std::max<std::int64_t>(1, kBlocks / (std::int64_t{grid.x} * grid.y));
    const std::int64_t most = std::max<std::int64_t>(1, s.inner / kLeast);
    const std::int64_t part_count = std::min(wanted, most);
    s.inner_a_part = static_cast<Index>((s.inner + part_count - 1) / part_count);
    grid.z = static_cast<unsigned>((s.inner + s.inner_a_part - 1) / s.inner_a_part);
    if (grid.z > 1) {
      parts = call.workspace<float>(std::size_t{grid.z} * static_cast<std::size_t>(s.rows) *
                                    static_cast<std::size_t>(s.columns));
    }
  }
  convolve_tiles<kDirection, kColumns>
      <<<grid, kBlock, 0, call.stream()>>>(s, a, b, parts, epilogue);
  launched("convolution by tiles");
  if (parts != result) {
    sum_parts(call, parts, grid.z, static_cast<std::int64_t>(s.rows) * s.columns, result);
  }
}

template <Direction kDirection, typename Index>
void launch_columns(Call& call, const ops::Convolution& c, const float* a, const float* b,
                    float* result, const ChannelEpilogue& epilogue) {
  const Shape<Index> s = shape_of<Index>(c, kDirection);
  if (s.columns <= 16) return launch<kDirection, 1>(call, s, a, b, result, epilogue);
  return launch<kDirection, 4>(call, s, a, b, result, epilogue);
}

template <typename Index>
void launch_direction(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                      const ChannelEpilogue& epilogue) {
  switch (data.direction) {
    case Direction::kForward:
      return launch_columns<Direction::kForward, Index>(call, c, data.x, data.filter, data.y,
                                                        epilogue);
    case Direction::kBackData:
      return launch_columns<Direction::kBackData, Index>(call, c, data.y, data.filter, data.x, {});
    case Direction::kBackFilter:
      return launch_columns<Direction::kBackFilter, Index>(call, c, data.x, data.y, data.filter,
                                                           {});
  }
}

}  // namespace

void sum_parts(Call& call, const float* parts, std::int64_t part_count, std::int64_t count,
               float* result) {
  add_parts<<<blocks_for(count), kThreads, 0, call.stream()>>>(parts, part_count, count, result);
  launched("sum of parts");
}

void convolve_by_tiles(Call& call, const ops::Convolution& c, const ConvolutionData& data,
                       const ChannelEpilogue& epilogue) {
  const std::int64_t channels = std::max(c.in_channels, c.out_channels);
  std::int64_t filter = c.in_channels * c.out_channels;
  for (std::size_t i = 0; i < c.windows.axes; ++i) filter *= c.windows.size[i];
  return fits_32_bits(c.windows, channels) && fits_32_bits(filter)
             ? launch_direction<std::int32_t>(call, c, data, epilogue)
             : launch_direction<std::int64_t>(call, c, data, epilogue);
}

}  // namespace ebb::cuda
