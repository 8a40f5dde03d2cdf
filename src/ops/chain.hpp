// Elementwise operations that follow one another, as one pass over their elements: what a recorded
// program (src/program) makes of them. Each element goes through the same rows as it would one
// operation at a time, so the numbers are the same to the bit.
//
// Batch normalisation is a chain too: x - mean, times the factors scale / sqrt(variance + epsilon), which
// are an operation of their own, plus offset.
//
// Both are no rows of the table: hosts do not know them, and neither do tapes. A chain's code is one attribute, a
// list of kChainWords numbers for each step:
//   op, a, b, two attributes of the operation, whether the result is one of the chain's
// where a and b name an input, or (from the number of inputs on) what an earlier step has made; b is
// -1 where there is none. Inputs are float32, and so are results, which have the shape of the largest
// input; other inputs have that shape, its last extents, one element, or one for each row of kLeastChainRow
// elements or more.
//
// A device that works on its own takes longer chains, their inputs as they lie, rows of any length, and more operations: comparisons, whose results stay within the chain, Select, which has its third operand in the
// place of an attribute, BroadcastTo, and the factors of a normalisation. Results that only a Concat along the last axis
// would use are parts of one result, which comes last: the last word is then 2 and the number of the part.
#pragma once

#include "ebb/ops/run.hpp"
#include "ops/op_call.hpp"
#include "ops/params/chain.hpp"

namespace ebb::ops {

// What the table does not have; null: it is none of these.
const OpSpec* find_program_op(OpId op) noexcept;

// ebb::ops::run, which refuses these, for the steps of a program.
std::size_t run_in_program(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                           std::span<const double> attributes, std::span<OpResult> results);

// 1 to 3, how many operands it takes in a chain; 0: it is not for chains.
int chain_operands(OpId op) noexcept;
int device_chain_operands(OpId op) noexcept;
// Its results are true or false; in a chain 1 or 0.
bool is_truth(OpId op) noexcept;
// Whether an input of this shape repeats along the elements of that one: it has its last extents, or one element.
bool repeats_along(const Shape& input, const Shape& result) noexcept;
// How many elements of the result one after another share a number of the input; 0: it does not lie so.
std::int64_t sharing_row(const Shape& input, const Shape& result) noexcept;
// Whether an input of this shape can be in a chain whose results are of that one.
bool fits_chain(const Shape& input, const Shape& result) noexcept;
bool fits_device_chain(const Shape& input, const Shape& result) noexcept;

// A step, read from the code.
struct ChainStep {
  OpId op;
  int a, b;
  double attributes[2];
  bool is_result;
};
ChainStep chain_step(std::span<const double> code, std::size_t i) noexcept;

// The meanings.
void check_chain(OpCall& call);
void check_norm_factors(OpCall& call);

}  // namespace ebb::ops
