// Sums and products up to each element, over [outer, count, inner].
//
// A long row is cut into parts: the total of each, the totals scanned, then each part from where
// the one before it ended. Columns of which there are few are turned into rows first.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/steps.cuh"
#include "ops/params/reductions.hpp"

namespace ebb::cuda {
namespace {

struct Scan {
  DType dtype;
  const void* x;
  void* y;
  std::int64_t count, inner;
  bool exclusive, reversed;
  std::int64_t parts, chunk;  // of a row
  const void* prefixes;       // by row and part; null: every part begins anew
  void* totals;               // by row and part; not null: only these are wanted

  __device__ std::int64_t position(std::int64_t k) const { return reversed ? count - 1 - k : k; }
};

constexpr int kItems = 4;  // of a thread, in one round
constexpr int kRound = kThreads * kItems;

template <typename A>
__device__ A shuffled_up(const A& value, int by) {
  A result;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(A) / 4); ++i) {
    reinterpret_cast<std::uint32_t*>(&result)[i] =
        __shfl_up_sync(~0u, reinterpret_cast<const std::uint32_t*>(&value)[i], by);
  }
  return result;
}

// What comes before this thread's value in the block; `total` becomes the block's.
template <typename A, typename Op>
__device__ A before_thread(A value, A& total, Op op) {
  constexpr int kWarps = kThreads / 32;
  __shared__ alignas(A) std::byte room[kWarps * sizeof(A)];
  A* warps = reinterpret_cast<A*>(room);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  A sum = value;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const A other = shuffled_up(sum, by);
    if (lane >= by) sum = op(other, sum);
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  A before = Op::template first<A>();
  total = before;
  for (int i = 0; i < kWarps; ++i) {
    if (i == warp) before = total;
    total = op(total, warps[i]);
  }
  const A left = shuffled_up(sum, 1);
  __syncthreads();
  return lane == 0 ? before : op(before, left);
}

template <typename A, typename Op>
__global__ void __launch_bounds__(kThreads) scan_rows(Scan scan) {
  const Op op;
  const std::int64_t row = blockIdx.x / scan.parts, part = blockIdx.x % scan.parts;
  const std::int64_t base = row * scan.count;
  const std::int64_t end = min(scan.count, (part + 1) * scan.chunk);
  A running = scan.prefixes != nullptr ? static_cast<const A*>(scan.prefixes)[blockIdx.x]
                                       : Op::template first<A>();
  for (std::int64_t tile = part * scan.chunk; tile < end; tile += kRound) {
    const std::int64_t k = tile + threadIdx.x * kItems;
    A items[kItems], own = Op::template first<A>(), total;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      items[i] = k + i < end ? load_any<A>(scan.dtype, scan.x, base + scan.position(k + i))
                             : Op::template first<A>();
      own = op(own, items[i]);
    }
    A sum = op(running, before_thread(own, total, op));
    running = op(running, total);
    if (scan.totals != nullptr) continue;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const A next = op(sum, items[i]);
      if (k + i < end) {
        store_any(scan.dtype, scan.y, base + scan.position(k + i), scan.exclusive ? sum : next);
      }
      sum = next;
    }
  }
  if (scan.totals != nullptr && threadIdx.x == 0)
    static_cast<A*>(scan.totals)[blockIdx.x] = running;
}

// A thread for each column.
template <typename A, typename Op>
__global__ void __launch_bounds__(kThreads) scan_columns(Scan scan, std::int64_t columns) {
  const Op op;
  for (std::int64_t at = first(); at < columns; at += all()) {
    const std::int64_t base = at / scan.inner * scan.count * scan.inner + at % scan.inner;
    A total = Op::template first<A>();
    for (std::int64_t k = 0; k < scan.count; ++k) {
      const std::int64_t i = base + scan.position(k) * scan.inner;
      const A next = op(total, load_any<A>(scan.dtype, scan.x, i));
      store_any(scan.dtype, scan.y, i, scan.exclusive ? total : next);
      total = next;
    }
  }
}

template <typename A>
constexpr DType dtype_for() {
  if constexpr (std::is_same_v<A, float>) {
    return DType::kFloat32;
  } else if constexpr (std::is_same_v<A, double>) {
    return DType::kFloat64;
  } else if constexpr (std::is_same_v<A, std::int64_t>) {
    return DType::kInt64;
  } else {
    return DType::kComplex64;
  }
}

template <typename A, typename Op>
void launch_rows(cudaStream_t stream, const Scan& scan, std::int64_t rows) {
  scan_rows<A, Op><<<static_cast<unsigned>(rows * scan.parts), kThreads, 0, stream>>>(scan);
  launched("a scan");
}

template <typename A, typename Op>
void run_rows(Call& call, Scan scan, std::int64_t rows) {
  const std::int64_t most = std::max<std::int64_t>(1, kWave / rows);
  const std::int64_t parts = std::clamp<std::int64_t>(scan.count / (8 * kRound), 1, most);
  scan.chunk = (scan.count + parts - 1) / parts;
  scan.chunk = (scan.chunk + kRound - 1) / kRound * kRound;
  scan.parts = (scan.count + scan.chunk - 1) / scan.chunk;
  if (scan.parts == 1) return launch_rows<A, Op>(call.stream(), scan, rows);
  A* totals = call.workspace<A>(
      checked_product({static_cast<std::size_t>(rows), static_cast<std::size_t>(scan.parts)}));
  Scan first = scan;
  first.totals = totals;
  launch_rows<A, Op>(call.stream(), first, rows);
  launch_rows<A, Op>(call.stream(),
                     {.dtype = dtype_for<A>(),
                      .x = totals,
                      .y = totals,
                      .count = scan.parts,
                      .inner = 1,
                      .exclusive = true,
                      .reversed = false,
                      .parts = 1,
                      .chunk = (scan.parts + kRound - 1) / kRound * kRound,
                      .prefixes = nullptr,
                      .totals = nullptr},
                     rows);
  scan.prefixes = totals;
  launch_rows<A, Op>(call.stream(), scan, rows);
}

template <typename A, typename Op>
void run(Call& call, const ops::ScanParams& p) {
  const ebb_cuda_tensor& x = call.input(0);
  Scan scan{.dtype = dtype_of(x),
            .x = x.data,
            .y = call.output(0).data,
            .count = p.count,
            .inner = p.inner,
            .exclusive = p.exclusive,
            .reversed = p.reversed,
            .parts = 1,
            .chunk = p.count,
            .prefixes = nullptr,
            .totals = nullptr};
  const std::int64_t rows = p.outer * p.inner;
  constexpr std::int64_t kShort = 32;
  if (p.inner == 1 && p.count > kShort) return run_rows<A, Op>(call, scan, rows);
  if (rows >= 4096 || p.count <= 256) {
    scan_columns<A, Op><<<blocks_for(rows), kThreads, 0, call.stream()>>>(scan, rows);
    return launched("a scan");
  }
  const std::size_t size = size_of(scan.dtype);
  auto* turned =
      call.workspace<std::byte>(checked_product({static_cast<std::size_t>(elements(x)), size}));
  const std::int64_t whole = p.count * p.inner;
  Plan<2> there, back;
  there.add_outer(p.count, {p.inner, 1});
  there.add_outer(p.inner, {1, p.count});
  there.add_outer(p.outer, {whole, whole});
  there.reverse();
  back.add_outer(p.inner, {p.count, 1});
  back.add_outer(p.count, {1, p.inner});
  back.add_outer(p.outer, {whole, whole});
  back.reverse();
  copy(call.stream(), there, size, x.data, turned);
  scan.x = scan.y = turned;
  scan.inner = 1;
  run_rows<A, Op>(call, scan, rows);
  copy(call.stream(), back, size, turned, call.output(0).data);
}

template <typename Op>
void scan(Call& call) {
  const auto& p = call.params<ops::ScanParams>();
  if (elements(call.output(0)) == 0) return;
  switch (dtype_of(call.input(0))) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      return run<float, Op>(call, p);
    case DType::kInt64:
      return run<std::int64_t, Op>(call, p);
    case DType::kComplex64:
      return run<Complex64, Op>(call, p);
    default:
      return run<double, Op>(call, p);
  }
}
EBB_CUDA_KERNEL(Cumsum, scan<Add>);
EBB_CUDA_KERNEL(Cumprod, scan<Multiply>);

}  // namespace
}  // namespace ebb::cuda
