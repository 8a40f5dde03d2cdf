// Which products are small, and their launch.
#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/kernels/products.hpp"
#include "backends/cuda/plugin/kernels/products_small.cuh"

namespace ebb::cuda {
namespace {

using Least = SmallTile<16, 16, 16, 64, 3>;
using Middle = SmallTile<16, 32, 8, 64, 3>;
using Most = SmallTile<32, 32, 4, 32, 4>;

// Beyond these cuBLASLt is faster, by what was measured on an H200.
constexpr std::int64_t kMostInner = 512;
constexpr std::int64_t kMostElements = std::int64_t{1} << 20;  // of the result
// Tiles that the next larger ones need not be taken for.
constexpr std::int64_t kLeastTiles = 256, kMiddleTiles = 512;
constexpr std::int64_t kShortInner = 32;

constexpr std::int64_t kMostLd = std::int64_t{1} << 24;
constexpr std::int64_t kPack = 4;  // elements that are loaded together

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % (kPack * sizeof(float)) == 0;
}

bool lies_in_packs(const MatrixOperand& x) {
  return is_aligned(x.data) && x.ld % kPack == 0 && x.stride % kPack == 0 && x.ld < kMostLd;
}

bool is_small(const ProductRun& run) {
  constexpr std::int64_t kMostCount = 65535;  // of a grid's z
  return run.dtype == DType::kFloat32 && run.inner <= kMostInner && run.count <= kMostCount &&
         run.rows <= kMostElements && run.columns <= kMostElements &&
         run.rows * run.columns <= kMostElements / run.count;
}

bool lies_in_packs(const ProductRun& run) {
  const std::int64_t left = run.a.transposed ? run.rows : run.inner;
  return left % kPack == 0 && run.inner % kPack == 0 && run.columns % kPack == 0 &&
         is_aligned(run.result) && lies_in_packs(run.a) && lies_in_packs(run.b);
}

template <typename Tile>
std::int64_t tiles_of(const ProductRun& run) {
  return (run.rows + Tile::kRows - 1) / Tile::kRows *
         ((run.columns + Tile::kColumns - 1) / Tile::kColumns) * run.count;
}

SmallOperand as_small(const MatrixOperand& x) {
  return {static_cast<const float*>(x.data), x.stride, static_cast<std::int32_t>(x.ld)};
}

}  // namespace

bool multiply_small(Call& call, const ProductRun& run, const Finish& finish) {
  if (call.device().matmul_math() != Math::kF32 || !is_small(run) || !lies_in_packs(run)) {
    return false;
  }
  const SmallWork work{.rows = static_cast<std::int32_t>(run.rows),
                       .inner = static_cast<std::int32_t>(run.inner),
                       .columns = static_cast<std::int32_t>(run.columns),
                       .a = as_small(run.a),
                       .b = as_small(run.b),
                       .result = static_cast<float*>(run.result),
                       .finish = finish};
  const auto launch = [&]<typename Tile>() {
    launch_small<Tile>(call.stream(), work, run.count, run.a.transposed, run.b.transposed);
  };
  if (run.inner <= kShortInner) {
    launch.operator()<Most>();
  } else if (tiles_of<Least>(run) <= kLeastTiles) {
    launch.operator()<Least>();
  } else if (tiles_of<Middle>(run) <= kMiddleTiles) {
    launch.operator()<Middle>();
  } else {
    launch.operator()<Most>();
  }
  return true;
}

}  // namespace ebb::cuda
