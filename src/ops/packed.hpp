// Products with a matrix that was packed before, as kernels multiply by it: what a recorded program
// (src/program) makes of products and pointwise convolutions whose weights stay the same.
//
// None are rows of the table. PackedMatrix gives the panels of a matrix; what a panel is like only
// the device's kernels know. PackedProduct takes a matrix's panels in its place: the last axis of x is
// the inner extent, all others are rows. PackedSeparable is a depthwise convolution and the PackedProduct
// of what it gives, which is never whole in memory.
#pragma once

#include "ops/op_call.hpp"
#include "ops/params/convolutions.hpp"
#include "ops/params/program_ops.hpp"

namespace ebb::ops {

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

// Inputs: x, the filter, the panels, a number for each channel and one for each column, which may be left
// out. Attributes: those of FusedDepthwiseConv2D, but for the last: the columns, and the product's
// activation. Channels are last and have one filter each, of kMostSeparableTaps taps at most; both activations are
// linear, relu or relu6.
struct PackedSeparable {
  Convolution depthwise;  // its epilogue has the activation alone
  std::int64_t columns = 0;
  Activation activation = Activation::kLinear;  // the product's
};
inline constexpr std::int64_t kMostSeparableTaps = 49;

// Comes to no more than limits.
constexpr bool is_limiting(Activation activation) noexcept {
  return activation == Activation::kLinear || activation == Activation::kRelu ||
         activation == Activation::kRelu6;
}

constexpr std::int64_t panels_of(std::int64_t columns) noexcept {
  return columns / kPanelColumns + (columns % kPanelColumns != 0 ? 1 : 0);
}

// [1..., count]
inline bool is_list_of(const Shape& shape, std::int64_t count) noexcept {
  return shape.rank() > 0 && shape.dims().back() == count &&
         shape.elements() == static_cast<std::uint64_t>(count);
}

inline Shape panels_shape(std::int64_t inner, std::int64_t columns) {
  return Shape{panels_of(columns), inner, kPanelColumns};
}

// Null: it is none of these.
const OpSpec* find_packed_op(OpId op) noexcept;

// The meanings.
void check_packed_matrix(OpCall& call);
void check_packed_product(OpCall& call);
void check_packed_separable(OpCall& call);  // convolutions.cpp

}  // namespace ebb::ops
