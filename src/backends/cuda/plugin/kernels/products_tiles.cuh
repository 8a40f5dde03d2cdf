// Products by tiles in shared memory: int32, which cuBLASLt has not, and everything where it is
// missing.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backends/cuda/plugin/kernels/neural.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"

namespace ebb::cuda {

struct alignas(8) ComplexPair {
  float re = 0;
  float im = 0;
};

// Sums of int32 wrap: unsigned arithmetic is defined to. 16-bit floats are summed as float.
template <typename T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<__half> {
  using type = float;
};
template <>
struct SumOf<__nv_bfloat16> {
  using type = float;
};

template <typename T>
__device__ inline void add_product(T& sum, T a, T b) {
  sum += a * b;
}
template <>
__device__ inline void add_product(ComplexPair& sum, ComplexPair a, ComplexPair b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
}

inline constexpr int kTile = 64;       // rows and columns of the result a block computes
inline constexpr int kTileInner = 16;  // of the inner axis at a time
inline constexpr int kEach = 4;        // rows and columns a thread computes; 16 x 16 threads

struct TileWork {
  std::int64_t rows, inner, columns;
  std::int64_t a_row, a_inner, a_stride;  // steps in elements
  std::int64_t b_inner, b_column, b_stride;
  std::int64_t count;
};

// One matrix of the batch at a time along z; rows along x, which may be very many.
template <typename T>
__global__ void __launch_bounds__(256)
    multiply_tiles(TileWork w, const T* a, const T* b, T* result) {
  using Sum = typename SumOf<T>::type;
  __shared__ Sum left[kTileInner][kTile + 1];
  __shared__ Sum right[kTileInner][kTile + 1];
  const int tx = threadIdx.x % 16;
  const int ty = threadIdx.x / 16;
  const std::int64_t row0 = static_cast<std::int64_t>(blockIdx.x) * kTile;
  for (std::int64_t matrix = blockIdx.z; matrix < w.count; matrix += gridDim.z) {
    const T* a_of = a + matrix * w.a_stride;
    const T* b_of = b + matrix * w.b_stride;
    T* to = result + matrix * w.rows * w.columns;
    for (std::int64_t column0 = static_cast<std::int64_t>(blockIdx.y) * kTile; column0 < w.columns;
         column0 += static_cast<std::int64_t>(gridDim.y) * kTile) {
      Sum sums[kEach][kEach] = {};
      for (std::int64_t k0 = 0; k0 < w.inner; k0 += kTileInner) {
        for (int i = threadIdx.x; i < kTile * kTileInner; i += 256) {
          // Neighbouring threads read neighbouring elements, whichever axis is dense.
          const int ar = w.a_inner == 1 ? i / kTileInner : i % kTile;
          const int ak = w.a_inner == 1 ? i % kTileInner : i / kTile;
          const bool in_a = row0 + ar < w.rows && k0 + ak < w.inner;
          left[ak][ar] =
              in_a ? static_cast<Sum>(a_of[(row0 + ar) * w.a_row + (k0 + ak) * w.a_inner]) : Sum{};
          const int bc = w.b_column == 1 ? i % kTile : i / kTileInner;
          const int bk = w.b_column == 1 ? i / kTile : i % kTileInner;
          const bool in_b = column0 + bc < w.columns && k0 + bk < w.inner;
          right[bk][bc] =
              in_b ? static_cast<Sum>(b_of[(k0 + bk) * w.b_inner + (column0 + bc) * w.b_column])
                   : Sum{};
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTileInner; ++k) {
#pragma unroll
          for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
              add_product(sums[i][j], left[k][ty + 16 * i], right[k][tx + 16 * j]);
            }
          }
        }
        __syncthreads();
      }
      for (int i = 0; i < kEach; ++i) {
        for (int j = 0; j < kEach; ++j) {
          const std::int64_t row = row0 + ty + 16 * i;
          const std::int64_t column = column0 + tx + 16 * j;
          if (row < w.rows && column < w.columns) {
            to[row * w.columns + column] = static_cast<T>(sums[i][j]);
          }
        }
      }
    }
  }
}

template <typename T>
void launch_tiles(Call& call, const ProductRun& run) {
  TileWork w{};
  w.rows = run.rows;
  w.inner = run.inner;
  w.columns = run.columns;
  w.a_row = run.a.transposed ? 1 : run.a.ld;
  w.a_inner = run.a.transposed ? run.a.ld : 1;
  w.a_stride = run.a.stride;
  w.b_inner = run.b.transposed ? 1 : run.b.ld;
  w.b_column = run.b.transposed ? run.b.ld : 1;
  w.b_stride = run.b.stride;
  w.count = run.count;
  const dim3 grid(
      static_cast<unsigned>((run.rows + kTile - 1) / kTile),
      static_cast<unsigned>(std::min<std::int64_t>((run.columns + kTile - 1) / kTile, 65535)),
      static_cast<unsigned>(std::min<std::int64_t>(run.count, 65535)));
  multiply_tiles<T><<<grid, 256, 0, call.stream()>>>(w, static_cast<const T*>(run.a.data),
                                                     static_cast<const T*>(run.b.data),
                                                     static_cast<T*>(run.result));
  launched("product by tiles");
}

}  // namespace ebb::cuda
