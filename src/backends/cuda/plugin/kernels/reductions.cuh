// Reductions of [outer, count, inner] over `count`, in one or two passes.
//
// A Source gives elements as A's:        A at(offset, k), A start(offset of k = 0)
//                                        A start_of(first A), where A's are reduced once more
// Every thread begins with `start`, so it changes nothing however often it is joined.
// A Step joins two of them:              A operator()(A a, A b), b being the later
// A Finish writes a result:              void operator()(result, A)
//
// Where there are fewer results than the device can work on at once, `count` is cut into parts,
// whose results are A's in a workspace, and reduced once more.
#pragma once

#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"

namespace ebb::cuda {

struct Layout {
  std::int64_t outer, count, inner;
  std::int64_t parts = 1, chunk = 0;  // of count
};

template <typename Source>
struct PartSource {
  using Value = typename Source::Value;
  static constexpr bool kPacks = false;
  const Value* parts;
  __device__ Value at(std::int64_t offset, std::int64_t) const { return parts[offset]; }
  __device__ Value start(std::int64_t offset) const { return Source::start_of(parts + offset); }
};

template <typename A>
struct PartFinish {
  A* parts;
  __device__ void operator()(std::int64_t result, const A& value) const { parts[result] = value; }
};

template <typename A>
__device__ A shuffled_down(const A& value, int by) {
  static_assert(sizeof(A) % 4 == 0);
  A result;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i) {
    reinterpret_cast<std::uint32_t*>(&result)[i] =
        __shfl_down_sync(~0u, reinterpret_cast<const std::uint32_t*>(&value)[i], by);
  }
  return result;
}

template <typename A, typename Step>
__device__ A reduce_warp(A value, Step step) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) value = step(value, shuffled_down(value, by));
  return value;
}

// The result is thread 0's.
template <typename A, typename Step>
__device__ A reduce_block(A value, Step step) {
  constexpr int kWarps = kThreads / 32;
  __shared__ alignas(A) std::byte room[kWarps * sizeof(A)];
  A* shared = reinterpret_cast<A*>(room);
  value = reduce_warp(value, step);
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < kWarps; ++i) value = step(value, shared[i]);
  }
  return value;
}

// inner is 1: `lanes` threads (32 or kThreads) for each part of a row.
template <typename Source, typename Step, typename Finish>
__global__ void __launch_bounds__(kThreads)
    reduce_rows(Source source, Step step, Finish finish, Layout layout, int lanes) {
  using A = typename Source::Value;
  const std::int64_t result = std::int64_t{blockIdx.x} * (kThreads / lanes) + threadIdx.x / lanes;
  if (result >= layout.outer * layout.parts) return;  // all lanes of a warp alike
  const int lane = threadIdx.x % lanes;
  const std::int64_t row = result / layout.parts, part = result % layout.parts;
  const std::int64_t base = row * layout.count;
  const std::int64_t begin = part * layout.chunk;
  const std::int64_t end = min(layout.count, begin + layout.chunk);
  A total = source.start(base);
  if constexpr (Source::kPacks) {
    total = source.packs(base, begin, end, lane, lanes, total, step);
  } else {
#pragma unroll 4
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      total = step(total, source.at(base + k, k));
    }
  }
  total = lanes == 32 ? reduce_warp(total, step) : reduce_block(total, step);
  if (lane == 0) finish(result, total);
}

// Any inner: a thread for each result (x), several along count (y).
template <typename Source, typename Step, typename Finish>
__global__ void __launch_bounds__(kThreads)
    reduce_columns(Source source, Step step, Finish finish, Layout layout) {
  using A = typename Source::Value;
  __shared__ alignas(A) std::byte room[kThreads * sizeof(A)];
  A* shared = reinterpret_cast<A*>(room);
  const std::int64_t column = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t part = blockIdx.y;
  const bool there = column < layout.outer * layout.inner;
  const std::int64_t outer = column / layout.inner, inner = column % layout.inner;
  const std::int64_t base = outer * layout.count * layout.inner + inner;
  A total{};
  if (there) {
    total = source.start(base);
    const std::int64_t end = min(layout.count, (part + 1) * layout.chunk);
#pragma unroll 4
    for (std::int64_t k = part * layout.chunk + threadIdx.y; k < end; k += blockDim.y) {
      total = step(total, source.at(base + k * layout.inner, k));
    }
  }
  if (blockDim.y > 1) {
    shared[threadIdx.y * blockDim.x + threadIdx.x] = total;
    __syncthreads();
    if (threadIdx.y == 0) {
      for (int y = 1; y < static_cast<int>(blockDim.y); ++y) {
        total = step(total, shared[y * blockDim.x + threadIdx.x]);
      }
    }
  }
  if (there && threadIdx.y == 0) {
    finish((outer * layout.parts + part) * layout.inner + inner, total);
  }
}

inline constexpr std::int64_t kShortRow = 16;  // a thread for each row
inline constexpr std::int64_t kWarpRow = 1024;

inline bool by_columns(const Layout& layout) {
  return layout.inner > 1 || layout.count <= kShortRow;
}

// Cuts `count` where the results alone would not fill the device.
inline void cut(Layout& layout) {
  const std::int64_t results = layout.outer * layout.inner;
  const std::int64_t blocks = by_columns(layout) ? (results + 31) / 32 : results;
  const std::int64_t least = by_columns(layout) ? 64 : 8192;  // of a part
  layout.parts =
      std::clamp<std::int64_t>(layout.count / least, 1, std::max<std::int64_t>(1, kWave / blocks));
  const std::int64_t chunk = (layout.count + layout.parts - 1) / layout.parts;
  layout.chunk = by_columns(layout) ? std::max<std::int64_t>(chunk, 1)
                                    : (chunk + kThreads * 4 - 1) / (kThreads * 4) * (kThreads * 4);
  layout.parts = std::max<std::int64_t>(1, (layout.count + layout.chunk - 1) / layout.chunk);
}

template <typename Source, typename Step, typename Finish>
void launch_reduce(cudaStream_t stream, const Source& source, Step step, const Finish& finish,
                   const Layout& layout) {
  if (by_columns(layout)) {
    const std::int64_t results = layout.outer * layout.inner;
    const bool tall = layout.count > kShortRow;
    const dim3 block = tall ? dim3(32, kThreads / 32) : dim3(kThreads, 1);
    const dim3 grid(blocks_for(results, block.x), static_cast<unsigned>(layout.parts));
    reduce_columns<<<grid, block, 0, stream>>>(source, step, finish, layout);
  } else {
    const int lanes = layout.count <= kWarpRow ? 32 : kThreads;
    const unsigned blocks = blocks_for(layout.outer * layout.parts, kThreads / lanes);
    reduce_rows<<<blocks, kThreads, 0, stream>>>(source, step, finish, layout, lanes);
  }
  launched("a reduction");
}

template <typename Source, typename Step, typename Finish>
void reduce(Call& call, const Source& source, Step step, const Finish& finish, Layout layout) {
  using A = typename Source::Value;
  if (layout.outer * layout.inner == 0) return;
  cut(layout);
  if (layout.parts == 1) return launch_reduce(call.stream(), source, step, finish, layout);
  A* parts = call.workspace<A>(checked_product({static_cast<std::size_t>(layout.outer),
                                                static_cast<std::size_t>(layout.parts),
                                                static_cast<std::size_t>(layout.inner)}));
  launch_reduce(call.stream(), source, step, PartFinish<A>{parts}, layout);
  const Layout second{layout.outer, layout.parts, layout.inner, 1, layout.parts};
  launch_reduce(call.stream(), PartSource<Source>{parts}, step, finish, second);
}

}  // namespace ebb::cuda
