// Softmax and its logarithm over the last axis, in one pass over memory: a row stays in registers
// while its largest element and its sum are found. A row with NaN or an infinite largest element is
// NaN.
#include <cfloat>

#include "backends/cuda/plugin/kernels/neural.hpp"

namespace ebb::cuda {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xffffffffU;

__device__ inline float larger(float a, float b) { return a > b || a != a ? a : b; }  // NaN wins

__device__ inline float warp_largest(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = larger(value, __shfl_xor_sync(kAll, value, step));
  }
  return value;
}

__device__ inline float warp_sum(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

// Over a block of kBlock threads; `shared` has room for one value a warp. All threads get the
// result.
template <int kBlock, typename Warp>
__device__ inline float across_block(float value, float* shared, float neutral, Warp warp) {
  value = warp(value);
  if constexpr (kBlock > kWarp) {
    constexpr int kWarps = kBlock / kWarp;
    __syncthreads();  // the one before may still be read
    if (threadIdx.x % kWarp == 0) shared[threadIdx.x / kWarp] = value;
    __syncthreads();
    value = warp(threadIdx.x % kWarp < kWarps ? shared[threadIdx.x % kWarp] : neutral);
  }
  return value;
}

struct WarpLargest {
  __device__ float operator()(float value) const { return warp_largest(value); }
};
struct WarpSum {
  __device__ float operator()(float value) const { return warp_sum(value); }
};

template <bool kLog>
struct Finish {
  float most, scale, log_sum;
  bool broken;
  __device__ Finish(float largest, float sum)
      : most(largest),
        scale(1.0F / sum),
        log_sum(kLog ? logf(sum) : 0.0F),
        broken(!isfinite(largest)) {}
  // `x` is an exponential, or for the logarithm the element itself.
  __device__ float operator()(float x) const {
    if (broken) return NAN;
    return kLog ? (x - most) - log_sum : x * scale;
  }
};

// kBlock threads a row, kWords words a thread; a word is one float or four.
template <bool kLog, int kBlock, int kWords, typename Word>
__global__ void __launch_bounds__(kBlock == kWarp ? 4 * kWarp : kBlock)
    softmax_rows(const float* x, float* y, std::int64_t rows, int columns, bool past_the_cache) {
  constexpr int kPer = sizeof(Word) / sizeof(float);
  __shared__ float shared[kWarp];
  const int lane = threadIdx.x % kBlock;
  const int words = columns / kPer;
  const std::int64_t rows_a_block = blockDim.x / kBlock;
  for (std::int64_t row = blockIdx.x * rows_a_block + threadIdx.x / kBlock; row < rows;
       row += gridDim.x * rows_a_block) {
    const Word* from = reinterpret_cast<const Word*>(x + row * columns);
    Word* to = reinterpret_cast<Word*>(y + row * columns);
    float values[kWords * kPer];
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int at = lane + i * kBlock;
      if (at < words) {
        const Word word = __ldcs(from + at);
#pragma unroll
        for (int j = 0; j < kPer; ++j)
          values[i * kPer + j] = reinterpret_cast<const float*>(&word)[j];
      } else {
#pragma unroll
        for (int j = 0; j < kPer; ++j) values[i * kPer + j] = -INFINITY;
      }
    }
    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < kWords * kPer; ++i) most = larger(values[i], most);
    most = across_block<kBlock>(most, shared, -INFINITY, WarpLargest());
    float sum = 0.0F;
#pragma unroll
    for (int i = 0; i < kWords * kPer; ++i) {
      const float e = expf(values[i] - most);
      if constexpr (!kLog) values[i] = e;
      sum += e;
    }
    sum = across_block<kBlock>(sum, shared, 0.0F, WarpSum());
    const Finish<kLog> finish(most, sum);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int at = lane + i * kBlock;
      if (at < words) {
        Word word;
#pragma unroll
        for (int j = 0; j < kPer; ++j)
          reinterpret_cast<float*>(&word)[j] = finish(values[i * kPer + j]);
        store_pack(to + at, word, past_the_cache);
      }
    }
  }
}

// Rows of any length: three passes, the later two mostly from the cache.
template <bool kLog>
__global__ void __launch_bounds__(1024)
    softmax_long_rows(const float* x, float* y, std::int64_t rows, std::int64_t columns) {
  __shared__ float shared[kWarp];
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* from = x + row * columns;
    float* to = y + row * columns;
    float most = -INFINITY;
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) most = larger(from[i], most);
    most = across_block<1024>(most, shared, -INFINITY, WarpLargest());
    float sum = 0.0F;
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(from[i] - most);
    sum = across_block<1024>(sum, shared, 0.0F, WarpSum());
    const Finish<kLog> finish(most, sum);
    for (std::int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      to[i] = finish(kLog ? from[i] : expf(from[i] - most));
    }
  }
}

struct Rows {
  const float* x;
  float* y;
  std::int64_t rows;
  std::int64_t columns;
};

template <bool kLog, int kBlock, int kWords, typename Word>
void launch_rows(Call& call, const Rows& r) {
  constexpr int kTogether = kBlock == kWarp ? 4 : 1;
  softmax_rows<kLog, kBlock, kWords, Word>
      <<<blocks_for(r.rows, kTogether), kBlock * kTogether, 0, call.stream()>>>(
          r.x, r.y, r.rows, static_cast<int>(r.columns),
          passes_the_cache(r.rows * r.columns * std::int64_t{sizeof(float)}));
}

// A warp for a short row, a block for a longer one; up to 32 floats a thread.
template <bool kLog, typename Word>
bool launch_registers(Call& call, const Rows& r) {
  constexpr int kPer = sizeof(Word) / sizeof(float);
  if (r.columns <= 128) {
    launch_rows<kLog, kWarp, 4 / kPer, Word>(call, r);
  } else if (r.columns <= 1024) {
    launch_rows<kLog, kWarp, 32 / kPer, Word>(call, r);
  } else if (r.columns <= 4096) {
    launch_rows<kLog, 256, 16 / kPer, Word>(call, r);
  } else if (r.columns <= 8192) {
    launch_rows<kLog, 256, 32 / kPer, Word>(call, r);
  } else if (r.columns <= 32768) {
    launch_rows<kLog, 1024, 32 / kPer, Word>(call, r);
  } else {
    return false;
  }
  return true;
}

template <bool kLog>
void softmax(Call& call) {
  const ebb_cuda_tensor& shape = call.input(0);
  const std::int64_t total = elements(shape);
  if (total == 0) return;
  const std::int64_t columns = shape.dims[shape.rank - 1];
  const Rows rows{call.in<float>(0), call.out<float>(0), total / columns, columns};
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; };
  const bool fours = columns % 4 == 0 && aligned(rows.x) && aligned(rows.y);
  const bool fit = fours ? launch_registers<kLog, float4>(call, rows)
                         : launch_registers<kLog, float>(call, rows);
  if (!fit) {
    softmax_long_rows<kLog><<<blocks_for(rows.rows, 1), 1024, 0, call.stream()>>>(
        rows.x, rows.y, rows.rows, rows.columns);
  }
  launched("softmax");
}

EBB_CUDA_KERNEL(Softmax, softmax<false>);
EBB_CUDA_KERNEL(LogSoftmax, softmax<true>);

}  // namespace
}  // namespace ebb::cuda
