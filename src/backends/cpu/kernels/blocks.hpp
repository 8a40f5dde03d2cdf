// Products of float32 matrices by blocks that stay in the caches: what Ebb multiplies with where it
// is built without oneDNN, and by matrices that recorded programs keep packed.
//
// The right-hand matrix is packed once, into panels of as many columns as two vectors have; each
// element of the result is a sum of fused products in the order of the inner extent, kBlock of them
// at a time. So it does not depend on the vectors' length, nor on how rows and columns are shared
// by the team.
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/parallel.hpp"

namespace ebb::cpu::blocks {

using Index = std::int64_t;

// Columns are shared out in multiples of this; panels are no wider.
inline constexpr Index kColumns = 32;
// How many products are summed before the sum joins the result.
inline constexpr Index kBlock = 512;
// Parts of fewer floating-point operations than this are not worth another thread: what one makes while another wakes,
// on this machine.
double part_flops() noexcept;
inline constexpr double kLeastPartFlops = 1.5e6;
inline constexpr double kCrewPartFlops = 4e5;  // where it is awake
// Rows of a tile at most: its block of the left-hand matrix stays in the second-level cache.
inline constexpr Index kRows = 96;

// Elements `row` and `column` apart.
struct Matrix {
  const float* at;
  Index row;
  Index column;
};

constexpr Index rounded(Index columns) noexcept {
  return (columns + kColumns - 1) / kColumns * kColumns;
}

// Packs rows [first, first + rows) of a right-hand matrix with `inner` rows in all; `part` is those
// rows. `to` has room for inner * rounded(columns) floats.
struct Packing {
  Matrix part;
  Index first;
  Index rows;
  Index inner;
  Index columns;
  float* to;
};
void pack(const Packing& packing);
// The columns of a panel, on this processor.
Index panel_columns();
// The same, shared by the team.
void pack_together(const Packing& packing);

// What is done to a sum before it is stored for the last time.
struct Finish {
  const float* bias = nullptr;  // one number for each column, which is added
  Limits limits;                // then
};

// out (+)= left * right
struct Tile {
  Matrix left;         // rows x inner
  const float* right;  // packed, from a column that is a multiple of kColumns; or as it lies
  float* out;
  Index out_row;  // from one of its rows to the next
  Index rows;
  Index inner;
  Index columns;
  bool add = false;  // to what is in `out`
  const Finish* finish = nullptr;
  // Where `right` is not packed: from one of its rows to the next. Columns are a multiple of kColumns then.
  Index right_row = 0;
  // What the caller reads after it, and is fetched meanwhile; null: nothing, and panels are.
  const float* next = nullptr;
  Index next_floats = 0;
};
void multiply(const Tile& tile);
// The same, shared by the team where it is worth it.
void multiply_together(const Tile& tile);
// In how many parts a product of so many floating-point operations is made.
Index parts_for(double flops) noexcept;

// Whether products of so many floating-point operations in all are worth waking the team.
bool are_worth_sharing(double flops) noexcept;
// Calls body(begin, end) for parts of [0, count), each item a product of so many floating-point operations. Once, on the
// calling thread, where all of them together are not worth sharing, whoever is awake.
void share(Index count, double flops, FunctionRef<void(Index, Index)> body);

}  // namespace ebb::cpu::blocks
