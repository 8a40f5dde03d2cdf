#pragma once

#include "ops/op_call.hpp"
#include "ops/params/products.hpp"

namespace ebb::cpu {

// float32, by oneDNN (products_dnn.cpp) or by blocks (products_blocked.cpp), as Ebb was built.
// Pre: neither the result nor the inner extent is empty.
void multiply_floats(ops::OpCall& call);

// What both have in common.

// How many matrices there are along the first `axes` of `batch`.
std::int64_t matrices(const std::array<std::int64_t, kMaxRank>& batch, std::size_t axes);
// How far into an operand, whose batch axes are `own`, the matrix lies that goes with the result's
// matrix `index`, in matrices.
std::int64_t matrix_index(const ops::Product& product,
                          const std::array<std::int64_t, kMaxRank>& own, std::int64_t index);
// Many matrices times one as one tall matrix times one, where the rows lie one after the other.
ops::Product folded(ops::Product product);
// Makes the whole of a product of one row and a matrix that is in the caches; false: it is none.
bool multiplied_row(ops::OpCall& call, const ops::Product& product, bool bias);

}  // namespace ebb::cpu
