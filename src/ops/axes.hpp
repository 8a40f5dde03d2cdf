// What operations need of shapes: axes counted from the end, broadcasting.
#pragma once

#include "ops/op_call.hpp"

namespace ebb::ops {

// The most that a block, a stride, a dilation or a margin may be: two of them multiplied, or one
// with an extent, stay within 64 bits.
inline constexpr std::int64_t kMostStep = (std::int64_t{1} << 31) - 1;

// `axis` counted from the start. Throws for one outside of [-rank, rank).
std::size_t checked_axis(const OpCall& call, std::int64_t axis, std::size_t rank);

// The shape that both broadcast to. Throws where they do not.
Shape broadcast(const OpCall& call, const Shape& a, const Shape& b);

// Where the result has no elements, makes it, and nothing is left to do: true.
bool make_if_empty(OpCall& call, DType dtype, const Shape& shape);

// Throws where the last position along an extent does not fit the int32 that a result names it by.
void check_positions(const OpCall& call, std::int64_t extent);

// The product of extents [from, to). Of an empty tensor it may be the largest number, standing for
// one that does not fit.
std::int64_t extent(const Shape& shape, std::size_t from, std::size_t to) noexcept;
std::int64_t elements(const Shape& shape) noexcept;

}  // namespace ebb::ops
