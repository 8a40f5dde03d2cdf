// Products of float32 whose result is so small that its tiles do not fill the device: small tiles, and the inner axis cut
// among the groups of a block, which add up in shared memory, always in the same order. One launch, and the result is
// finished while it is written.
#pragma once

#include "backends/cuda/plugin/kernels/finish.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"

namespace ebb::cuda {

// Operands in rows of `ld` elements, one matrix of a batch `stride` after the other.
struct SmallOperand {
  const float* data;
  std::int64_t stride;
  std::int32_t ld;
};

struct SmallWork {
  std::int32_t rows, inner, columns;
  SmallOperand a, b;
  float* result;
  Finish finish;
};

// `kInner` of the inner axis at a time, kStages such pieces on their way; a thread computes 4 x 4 of its group's tile.
template <int rows_of, int columns_of, int groups_of, int inner_of, int stages_of>
struct SmallTile {
  static constexpr int kRows = rows_of, kColumns = columns_of, kGroups = groups_of;
  static constexpr int kInner = inner_of, kStages = stages_of, kEach = 4;
  static constexpr int kGroupThreads = kRows * kColumns / (kEach * kEach);
  static constexpr int kThreads = kGroupThreads * kGroups;
  static constexpr int kPitch =
      kInner + 4;  // of lines along the inner axis: other banks for other lines
  static constexpr int kLeft = kRows * kPitch, kRight = kColumns * kPitch;
  static constexpr int kStage = kLeft + kRight;
  static constexpr int kParts = kGroups * kRows * kColumns;
  static constexpr int kShared =
      static_cast<int>(sizeof(float)) * (kStage * kStages > kParts ? kStage * kStages : kParts);
  static constexpr int kOwnInner = kInner / kGroups;  // of a group
  static_assert(kOwnInner % kEach == 0);
};

// 16 bytes to shared memory, zeros where there are none.
__device__ __forceinline__ void fetch(float* to, const float* from, bool is_there) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(place), "l"(from),
               "r"(is_there ? 16 : 0));
}
__device__ __forceinline__ void fetched_so_far() { asm volatile("cp.async.commit_group;\n"); }
template <int left>
__device__ __forceinline__ void wait_for_all_but() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(left));
}

// `lines` lines of an operand, from `line` and `inner` on. Along the inner axis: [line][inner], otherwise [inner][line].
template <int lines, int inner_count, int pitch, bool along_inner, int threads>
__device__ __forceinline__ void fetch_operand(float* to, const SmallOperand& x, int line, int inner,
                                              int line_end, int inner_end) {
  constexpr int kAcross = (along_inner ? inner_count : lines) / 4;
  constexpr int kPacks = kAcross * (along_inner ? lines : inner_count);
#pragma unroll
  for (int i = threadIdx.x; i < kPacks; i += threads) {
    const int row = i / kAcross, column = i % kAcross * 4;
    const int at = along_inner ? row : column, k = along_inner ? column : row;
    const bool is_there = line + at < line_end && inner + k < inner_end;
    const std::int64_t from = along_inner ? std::int64_t{line + at} * x.ld + inner + k
                                          : std::int64_t{inner + k} * x.ld + line + at;
    fetch(to + row * (along_inner ? pitch : lines) + column, x.data + (is_there ? from : 0),
          is_there);
  }
}

// Four lines of four along the inner axis. Lines of a thread: apart where they lie along it, beside one another otherwise.
template <int lines, int pitch, bool along_inner>
__device__ __forceinline__ void take_four(const float* shared, int thread, int k,
                                          float (&taken)[4][4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 pack =
        *reinterpret_cast<const float4*>(along_inner ? shared + (thread + lines / 4 * i) * pitch + k
                                                     : shared + (k + i) * lines + thread * 4);
    const float each[4] = {pack.x, pack.y, pack.z, pack.w};
#pragma unroll
    for (int j = 0; j < 4; ++j) (along_inner ? taken[i][j] : taken[j][i]) = each[j];
  }
}

template <int lines, bool along_inner>
__device__ __forceinline__ int line_of(int thread, int i) {
  return along_inner ? thread + lines / 4 * i : thread * 4 + i;
}

// `left_turned`: a lies as [inner, rows]; `right_turned`: b as [columns, inner].
template <typename Tile, bool left_turned, bool right_turned>
__global__ void __launch_bounds__(Tile::kThreads) multiply_small(const SmallWork given) {
  extern __shared__ __align__(16) float shared[];
  constexpr bool kLeftAlong = !left_turned, kRightAlong = right_turned;
  SmallWork w = given;
  w.a.data += blockIdx.z * w.a.stride;
  w.b.data += blockIdx.z * w.b.stride;
  const int row0 = blockIdx.x * Tile::kRows, column0 = blockIdx.y * Tile::kColumns;
  const int group = threadIdx.x / Tile::kGroupThreads, own = threadIdx.x % Tile::kGroupThreads;
  const int across = own % (Tile::kColumns / 4), down = own / (Tile::kColumns / 4);
  const int pieces = (w.inner + Tile::kInner - 1) / Tile::kInner;

  const auto fetch_piece = [&](int piece) {
    if (piece < pieces) {
      float* to = shared + piece % Tile::kStages * Tile::kStage;
      fetch_operand<Tile::kRows, Tile::kInner, Tile::kPitch, kLeftAlong, Tile::kThreads>(
          to, w.a, row0, piece * Tile::kInner, w.rows, w.inner);
      fetch_operand<Tile::kColumns, Tile::kInner, Tile::kPitch, kRightAlong, Tile::kThreads>(
          to + Tile::kLeft, w.b, column0, piece * Tile::kInner, w.columns, w.inner);
    }
    fetched_so_far();
  };

  float sums[4][4] = {};
  for (int piece = 0; piece < Tile::kStages - 1; ++piece) fetch_piece(piece);
  static_assert(Tile::kThreads >= Tile::kColumns);
  const bool asks = threadIdx.x < Tile::kColumns && column0 + threadIdx.x < w.columns;
  AskedNumbers asked;
  if (asks) asked = ask_for(w.finish, column0 + threadIdx.x);
  for (int piece = 0; piece < pieces; ++piece) {
    wait_for_all_but<Tile::kStages - 2>();
    __syncthreads();
    fetch_piece(piece + Tile::kStages - 1);
    const float* left = shared + piece % Tile::kStages * Tile::kStage;
    const float* right = left + Tile::kLeft;
#pragma unroll
    for (int k = 0; k < Tile::kOwnInner; k += 4) {
      float a[4][4], b[4][4];
      take_four<Tile::kRows, Tile::kPitch, kLeftAlong>(left, down, group * Tile::kOwnInner + k, a);
      take_four<Tile::kColumns, Tile::kPitch, kRightAlong>(right, across,
                                                           group * Tile::kOwnInner + k, b);
#pragma unroll
      for (int inner = 0; inner < 4; ++inner) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) sums[i][j] += a[i][inner] * b[j][inner];
        }
      }
    }
  }
  wait_for_all_but<0>();
  __shared__ ChannelNumbers numbers[Tile::kColumns];
  if (asks) numbers[threadIdx.x] = numbers_of(w.finish, asked);
  __syncthreads();
  float* parts = shared + group * Tile::kRows * Tile::kColumns;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      parts[line_of<Tile::kRows, kLeftAlong>(down, i) * Tile::kColumns +
            line_of<Tile::kColumns, kRightAlong>(across, j)] = sums[i][j];
    }
  }
  __syncthreads();
  const std::int64_t matrix = std::int64_t{blockIdx.z} * w.rows * w.columns;
  constexpr int kAcross = Tile::kColumns / 4;
  for (int i = threadIdx.x; i < Tile::kRows * kAcross; i += Tile::kThreads) {
    const int row = row0 + i / kAcross, within = i % kAcross * 4, column = column0 + within;
    if (row >= w.rows || column >= w.columns) continue;
    float total[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) total[j] = shared[i * 4 + j];
#pragma unroll
    for (int g = 1; g < Tile::kGroups; ++g) {
#pragma unroll
      for (int j = 0; j < 4; ++j) total[j] += shared[g * Tile::kRows * Tile::kColumns + i * 4 + j];
    }
    const std::int64_t place = matrix + std::int64_t{row} * w.columns + column;
    float4 pack;
    pack.x = finished(w.finish, numbers[within], total[0], place);
    pack.y = finished(w.finish, numbers[within + 1], total[1], place + 1);
    pack.z = finished(w.finish, numbers[within + 2], total[2], place + 2);
    pack.w = finished(w.finish, numbers[within + 3], total[3], place + 3);
    *reinterpret_cast<float4*>(w.result + place) = pack;
  }
}

template <typename Tile, bool left_turned, bool right_turned>
void launch_small(cudaStream_t stream, const SmallWork& work, std::int64_t count) {
  const auto kernel = multiply_small<Tile, left_turned, right_turned>;
  static_assert(Tile::kShared <= (48 << 10));  // more must be asked for
  const dim3 grid(static_cast<unsigned>((work.rows + Tile::kRows - 1) / Tile::kRows),
                  static_cast<unsigned>((work.columns + Tile::kColumns - 1) / Tile::kColumns),
                  static_cast<unsigned>(count));
  kernel<<<grid, Tile::kThreads, Tile::kShared, stream>>>(work);
  launched("a small product");
}

template <typename Tile>
void launch_small(cudaStream_t stream, const SmallWork& work, std::int64_t count, bool left_turned,
                  bool right_turned) {
  if (left_turned) {
    return right_turned ? launch_small<Tile, true, true>(stream, work, count)
                        : launch_small<Tile, true, false>(stream, work, count);
  }
  return right_turned ? launch_small<Tile, false, true>(stream, work, count)
                      : launch_small<Tile, false, false>(stream, work, count);
}

}  // namespace ebb::cuda
