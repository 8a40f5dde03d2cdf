// Convolutions by tiles: one kernel for all three directions, which convolutions_lookup.cuh
// describes.
#include "backends/cuda/plugin/kernels/activation.cuh"
#include "backends/cuda/plugin/kernels/convolutions.hpp"
#include "backends/cuda/plugin/kernels/convolutions_lookup.cuh"
#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

constexpr int kRows = 64;    // of the result a block computes
constexpr int kInner = 16;   // of the inner axis at a time
constexpr int kBlock = 256;  // 16 x 16 threads

template <Direction kDirection, int kColumns, typename Index>
__global__ void __launch_bounds__(kBlock)
    convolve_tiles(TileShape<Index> s, const float* a, const float* b, float* result,
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
  WindowPlace<Index> places[kToFilter ? 1 : kLooks];
  TapReach<Index> row_reach{};
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
        const WindowPlace<Index> place =
            place_of<kDirection>(s, static_cast<Index>(k0 + own_inner + 4 * i), end);
        left[own_inner + 4 * i][own_row] = look_up<kDirection>(s, a, place, row_reach);
      }
    } else {
      const TapReach<Index> reach =
          reach_of<kDirection>(s, static_cast<Index>(k0 + own_inner), end);
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

// 32 numbers of the lists a block: each of 8 rows of threads adds every eighth list, then the rows
// are added.
constexpr int kAcross = 32;
constexpr int kDown = 8;

__global__ void __launch_bounds__(kAcross* kDown)
    add_parts(const float* parts, std::int64_t part_count, std::int64_t count, std::int64_t line,
              float* result) {
  __shared__ float sums[kDown][kAcross];
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kAcross + threadIdx.x;
  float sum = 0.0F;
  if (at < count) {
#pragma unroll 8  // several loads on their way
    for (std::int64_t part = threadIdx.y; part < part_count; part += kDown) {
      sum += parts[part * count + at];
    }
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || at >= count) return;
  for (int i = 1; i < kDown; ++i) sum += sums[i][threadIdx.x];
  result[at % line * (count / line) + at / line] = sum;
}

template <Direction kDirection, int kColumns, typename Index>
void launch(Call& call, TileShape<Index> s, const float* a, const float* b, float* result,
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
      parts = call.workspace<float>(checked_product(
          {grid.z, static_cast<std::size_t>(s.rows), static_cast<std::size_t>(s.columns)}));
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
  const TileShape<Index> s = tile_shape_of<Index>(c, kDirection);
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
               float* result, std::int64_t line) {
  const dim3 threads(kAcross, kDown);
  add_parts<<<blocks_for(count, kAcross), threads, 0, call.stream()>>>(
      parts, part_count, count, line > 0 ? line : count, result);
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
