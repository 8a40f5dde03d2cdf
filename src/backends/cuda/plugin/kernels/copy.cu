#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"

namespace ebb::cuda {
namespace {

struct alignas(16) Wide {
  std::uint64_t half[2];
};

// ---- one thread an element

template <typename T>
__global__ void __launch_bounds__(kThreads)
    copy_each(const T* from, T* to, std::uint32_t count, Loops<2> loops) {
  for (std::int64_t i = first(); i < count; i += all()) {
    std::int32_t offset[2];
    loops.at(static_cast<std::uint32_t>(i), offset);
    to[offset[1]] = from[offset[0]];
  }
}

// ---- two axes of which one is dense on this side and the other on that: by tiles

constexpr int kTile = 32;
constexpr int kTileRows = 8;

struct Tiles {
  std::int32_t rows, columns;        // extents
  std::int32_t row_to, column_from;  // steps; row_from and column_to are 1
  Divisor tiles_down, tiles_across;
};

template <typename T>
__global__ void __launch_bounds__(kTile* kTileRows)
    copy_tiles(const T* from, T* to, Tiles tiles, Loops<2> others) {
  __shared__ T tile[kTile][kTile + 1];
  std::uint32_t block = blockIdx.x;
  std::uint32_t rest = tiles.tiles_down.divide(block);
  const auto row = static_cast<std::int32_t>(block - rest * tiles.tiles_down.value) * kTile;
  block = rest;
  rest = tiles.tiles_across.divide(block);
  const auto column = static_cast<std::int32_t>(block - rest * tiles.tiles_across.value) * kTile;
  std::int32_t offset[2];
  others.at(rest, offset);
  from += offset[0];
  to += offset[1];
  const int x = threadIdx.x;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kTileRows) {
    if (row + x < tiles.rows && column + y < tiles.columns) {
      tile[y][x] = from[row + x + (column + y) * tiles.column_from];
    }
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += kTileRows) {
    if (row + y < tiles.rows && column + x < tiles.columns) {
      to[(row + y) * tiles.row_to + column + x] = tile[x][y];
    }
  }
}

// The axis that is dense in the source while the inner one is dense in the target; -1: none.
int tiled_axis(const Plan<2>& plan) {
  const int inner = plan.axes - 1;
  if (inner < 1 || plan.step[1][inner] != 1 || plan.extent[inner] < kTile / 2) return -1;
  if (plan.step[0][inner] == 0 || plan.step[0][inner] == 1) return -1;
  for (int i = 0; i < inner; ++i) {
    if (plan.step[0][i] == 1 && plan.extent[i] >= kTile / 2) return i;
  }
  return -1;
}

template <typename T>
void launch_tiles(cudaStream_t stream, const Plan<2>& plan, int axis, const T* from, T* to) {
  const int inner = plan.axes - 1;
  Tiles tiles{.rows = static_cast<std::int32_t>(plan.extent[axis]),
              .columns = static_cast<std::int32_t>(plan.extent[inner]),
              .row_to = static_cast<std::int32_t>(plan.step[1][axis]),
              .column_from = static_cast<std::int32_t>(plan.step[0][inner]),
              .tiles_down = {},
              .tiles_across = {}};
  tiles.tiles_down = Divisor(static_cast<std::uint32_t>((tiles.rows + kTile - 1) / kTile));
  tiles.tiles_across = Divisor(static_cast<std::uint32_t>((tiles.columns + kTile - 1) / kTile));
  Plan<2> others;
  for (int i = 0; i < inner; ++i) {
    if (i == axis) continue;
    others.extent[others.axes] = plan.extent[i];
    others.step[0][others.axes] = plan.step[0][i];
    others.step[1][others.axes++] = plan.step[1][i];
  }
  const auto blocks =
      static_cast<unsigned>(others.elements()) * tiles.tiles_down.value * tiles.tiles_across.value;
  copy_tiles<<<blocks, dim3(kTile, kTileRows), 0, stream>>>(from, to, tiles, Loops<2>(others));
}

// ---- runs are moved as larger elements

// The most bytes that may be moved at once: 1 to 16 times the element.
std::size_t widest(const Plan<2>& plan, std::size_t size, const std::byte* from,
                   const std::byte* to) {
  const int inner = plan.axes - 1;
  if (inner < 0 || plan.step[0][inner] != 1 || plan.step[1][inner] != 1) return size;
  std::uint64_t all = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  all |= static_cast<std::uint64_t>(plan.extent[inner]) * size;
  for (int i = 0; i < inner; ++i) {
    all |= static_cast<std::uint64_t>(plan.step[0][i]) * size;
    all |= static_cast<std::uint64_t>(plan.step[1][i]) * size;
  }
  std::size_t wide = 16;
  while (wide > size && (all & (wide - 1)) != 0) wide /= 2;
  return wide;
}

Plan<2> widened(Plan<2> plan, std::int64_t times) {
  plan.extent[plan.axes - 1] /= times;
  for (int i = 0; i + 1 < plan.axes; ++i) {
    plan.step[0][i] /= times;
    plan.step[1][i] /= times;
  }
  return plan;
}

template <typename T>
void launch_part(cudaStream_t stream, const Plan<2>& plan, const std::byte* from, std::byte* to) {
  const auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  if (const int axis = tiled_axis(plan); axis >= 0) {
    launch_tiles(stream, plan, axis, source, target);
  } else {
    const auto count = static_cast<std::uint32_t>(plan.elements());
    copy_each<<<blocks_for(count), kThreads, 0, stream>>>(source, target, count, Loops<2>(plan));
  }
  launched("a copy");
}

void copy_part(cudaStream_t stream, Plan<2> plan, std::size_t size, const std::byte* from,
               std::byte* to) {
  const std::size_t wide = widest(plan, size, from, to);
  if (wide > size) plan = widened(plan, static_cast<std::int64_t>(wide / size));
  switch (wide) {
    case 1:
      return launch_part<std::uint8_t>(stream, plan, from, to);
    case 2:
      return launch_part<std::uint16_t>(stream, plan, from, to);
    case 4:
      return launch_part<std::uint32_t>(stream, plan, from, to);
    case 8:
      return launch_part<std::uint64_t>(stream, plan, from, to);
    default:
      return launch_part<Wide>(stream, plan, from, to);
  }
}

// ---- fills

__global__ void __launch_bounds__(kThreads)
    fill_words(std::uint64_t* to, std::int64_t words, std::uint64_t pattern, std::int64_t bytes) {
  for (std::int64_t i = first(); i < words; i += all()) to[i] = pattern;
  const std::int64_t tail = words * 8 + first();
  if (tail < bytes) {
    reinterpret_cast<std::uint8_t*>(to)[tail] =
        static_cast<std::uint8_t>(pattern >> (8 * (tail - words * 8)));
  }
}

}  // namespace

void copy(cudaStream_t stream, const Plan<2>& plan, std::size_t size, const void* from, void* to) {
  if (plan.elements() == 0) return;
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (plan.axes == 0 || (plan.axes == 1 && plan.step[0][0] == 1 && plan.step[1][0] == 1)) {
    return check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(plan.elements()) * size,
                                 cudaMemcpyDeviceToDevice, stream),
                 "a copy");
  }
  const auto bytes = static_cast<std::int64_t>(size);
  each_part(plan, {0, 0}, [&](const Plan<2>& part, const auto& offsets) {
    copy_part(stream, part, size, source + offsets[0] * bytes, target + offsets[1] * bytes);
  });
}

void copy(cudaStream_t stream, const ops::CopyPlan& plan, std::size_t size, const void* from,
          void* to) {
  Plan<2> own;
  for (std::size_t i = plan.axes; i-- > 0;) {
    if (plan.extent[i] == 0) return;
    own.add_outer(plan.extent[i], {plan.from_step[i], plan.to_step[i]});
  }
  own.reverse();
  const auto bytes = static_cast<std::int64_t>(size);
  copy(stream, own, size, static_cast<const std::byte*>(from) + plan.from_offset * bytes,
       static_cast<std::byte*>(to) + plan.to_offset * bytes);
}

void copy_runs(cudaStream_t stream, std::size_t size, std::int64_t rows, std::int64_t run,
               const void* from, std::int64_t from_step, void* to, std::int64_t to_step) {
  if (rows == 0 || run == 0) return;
  Plan<2> plan;
  plan.add_outer(run, {1, 1});
  plan.add_outer(rows, {from_step, to_step});
  plan.reverse();
  copy(stream, plan, size, from, to);
}

void pack(cudaStream_t stream, std::size_t size, std::span<const std::int64_t> dims,
          const std::int64_t* strides, const void* from, void* to) {
  Plan<2> plan;
  std::int64_t step = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 0) return;
    plan.add_outer(dims[i], {strides[i], step});
    step *= dims[i];
  }
  plan.reverse();
  copy(stream, plan, size, from, to);
}

void pack(cudaStream_t stream, const ebb_cuda_tensor& from, void* to) {
  pack(stream, size_of(dtype_of(from)), {from.dims, from.rank}, from.strides, from.data, to);
}

void fill(cudaStream_t stream, DType dtype, void* to, std::int64_t count, double value) {
  if (count == 0) return;
  const std::size_t size = size_of(dtype);
  const auto bytes = static_cast<std::size_t>(count) * size;
  std::uint64_t pattern = 0;
  visit(dtype, [&]<typename T>(Type<T>) {
    const T one = convert<T>(value);
    for (std::size_t i = 0; i < 8; i += sizeof(T)) {
      std::memcpy(reinterpret_cast<std::byte*>(&pattern) + i, &one, sizeof(T));
    }
  });
  if (pattern == 0) return check(cudaMemsetAsync(to, 0, bytes, stream), "a fill");
  const auto words = static_cast<std::int64_t>(bytes / 8);
  fill_words<<<blocks_for(std::max<std::int64_t>(words, 8)), kThreads, 0, stream>>>(
      static_cast<std::uint64_t*>(to), words, pattern, static_cast<std::int64_t>(bytes));
  launched("a fill");
}

}  // namespace ebb::cuda
