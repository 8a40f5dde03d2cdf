// Matrix products: what BatchMatMul and _FusedMatMul leave for their kernels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/params/fused.hpp"

namespace ebb::ops {

// [batch..., rows, inner] times [batch..., inner, columns], the batch axes broadcast. All three
// have `rank` axes, those that an operand lacks are 1.
struct Product {
  std::size_t rank = 2;
  std::array<std::int64_t, kMaxRank> a_batch{};  // rank - 2 of each
  std::array<std::int64_t, kMaxRank> b_batch{};
  std::array<std::int64_t, kMaxRank> batch{};
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool transpose_a = false;  // its matrices lie transposed in memory: [inner, rows]
  bool transpose_b = false;
  Epilogue epilogue;

  constexpr std::size_t batch_axes() const noexcept { return rank - 2; }
};

}  // namespace ebb::ops
