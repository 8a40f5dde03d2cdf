// Products with a matrix that was packed before, as kernels multiply by it: what a recorded program
// (src/program) makes of products and pointwise convolutions whose weights stay the same.
//
// Both are no rows of the table. PackedMatrix gives the panels of a matrix; what a panel is like only
// the device's kernels know. PackedProduct takes a matrix's panels in its place: the last axis of x is
// the inner extent, all others are rows.
#pragma once

#include "ops/op_call.hpp"
#include "ops/params/fused.hpp"

namespace ebb::ops {

inline constexpr OpId kPackedMatrix = kOpIdLimit - 3;
inline constexpr OpId kPackedProduct = kOpIdLimit - 4;
// The columns of a result are rounded up to this.
inline constexpr std::int64_t kPanelColumns = 32;

// [1..., inner, columns] to [panels, inner, kPanelColumns]
struct PackedMatrix {
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  bool transposed = false;  // it is given as [1..., columns, inner]
};

// Inputs: x, the panels, and a bias that may be left out.
struct PackedProduct {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  Epilogue epilogue;
};

constexpr std::int64_t panels_of(std::int64_t columns) noexcept {
  return columns / kPanelColumns + (columns % kPanelColumns != 0 ? 1 : 0);
}

// Null: it is none of these.
const OpSpec* find_packed_op(OpId op) noexcept;

// The meanings.
void check_packed_matrix(OpCall& call);
void check_packed_product(OpCall& call);

}  // namespace ebb::ops
