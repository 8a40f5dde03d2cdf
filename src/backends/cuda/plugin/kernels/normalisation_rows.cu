// (x - mean) / sqrt(variance + epsilon) of each row: what a layer normalisation is made of, in one launch.
#include "backends/cuda/plugin/kernels/both.cuh"
#include "backends/cuda/plugin/kernels/neural.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::cuda {
namespace {

constexpr int kWarp = 32;

// Over kLanes threads, which are a warp or all of a block; each gets the result.
template <int kLanes>
__device__ double sum_of_lanes(double value) {
#pragma unroll
  for (int by = kWarp / 2; by > 0; by /= 2) value += __shfl_xor_sync(~0U, value, by);
  if constexpr (kLanes > kWarp) {
    __shared__ double shared[kLanes / kWarp];
    __syncthreads();  // the one before may still be read
    if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
    __syncthreads();
    value = shared[0];
    for (int i = 1; i < kLanes / kWarp; ++i) value += shared[i];
  }
  return value;
}

// Means are added up in float64 and rounded, as Mean has them.
template <int kLanes>
__global__ void __launch_bounds__(kThreads)
    normalise_rows(const float* x, const float* epsilon, float* y, std::int64_t rows,
                   std::int64_t columns) {
  const int lane = threadIdx.x % kLanes;
  const std::int64_t row = std::int64_t{blockIdx.x} * (kThreads / kLanes) + threadIdx.x / kLanes;
  if (row >= rows) return;  // all lanes of a row alike
  const float* from = x + row * columns;
  const double share = 1.0 / static_cast<double>(columns);
  double total = 0;
#pragma unroll 8
  for (std::int64_t i = lane; i < columns; i += kLanes) total += from[i];
  const auto mean = static_cast<float>(sum_of_lanes<kLanes>(total) * share);
  total = 0;
#pragma unroll 8
  for (std::int64_t i = lane; i < columns; i += kLanes) {
    const float centred = from[i] - mean;
    total += product(centred, centred);
  }
  const auto variance = static_cast<float>(sum_of_lanes<kLanes>(total) * share);
  const float deviation = sqrtf(sum(variance, *epsilon));
#pragma unroll 8
  for (std::int64_t i = lane; i < columns; i += kLanes)
    y[row * columns + i] = (from[i] - mean) / deviation;
}

void row_norm(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  const std::int64_t total = elements(x);
  if (total == 0) return;
  constexpr std::int64_t kLongRow = 1024;
  const std::int64_t columns = x.dims[x.rank - 1], rows = total / columns;
  const bool is_short = columns <= kLongRow;
  const auto kernel = is_short ? normalise_rows<kWarp> : normalise_rows<kThreads>;
  kernel<<<blocks_for(rows, is_short ? kThreads / kWarp : 1), kThreads, 0, call.stream()>>>(
      call.in<float>(0), call.in<float>(1), call.out<float>(0), rows, columns);
  launched("a normalisation of rows");
}
const Registration row_norm_registered(ops::kRowNorm, row_norm);

}  // namespace
}  // namespace ebb::cuda
