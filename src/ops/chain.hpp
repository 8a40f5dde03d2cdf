// Elementwise operations that follow one another, as one pass over their elements: what a recorded
// program (src/program) makes of them. Each element goes through the same rows as it would one
// operation at a time, so the numbers are the same to the bit.
//
// It is no row of the table: hosts do not know it, and neither do tapes. Its code is one attribute, a
// list of kChainWords numbers for each step:
//   op, a, b, two attributes of the operation, whether the result is one of the chain's
// where a and b name an input, or (from the number of inputs on) what an earlier step has made; b is
// -1 where there is none. Inputs are float32, and so are results, which have the shape of the largest
// input; other inputs have that shape, its last extents, or one element.
#pragma once

#include "ops/op_call.hpp"

namespace ebb::ops {

inline constexpr OpId kChain = kOpIdLimit - 1;
inline constexpr std::size_t kChainWords = 6;
inline constexpr std::size_t kMostChainSteps = 16, kMostChainInputs = 16;

extern const OpSpec kChainSpec;

// 1 or 2, how many operands it takes in a chain; 0: it is not for chains.
int chain_operands(OpId op) noexcept;
// Whether an input of this shape can be in a chain whose results are of that one.
bool fits_chain(const Shape& input, const Shape& result) noexcept;

// A step, read from the code.
struct ChainStep {
  OpId op;
  int a, b;
  double attributes[2];
  bool is_result;
};
ChainStep chain_step(std::span<const double> code, std::size_t i) noexcept;

// The meaning.
void check_chain(OpCall& call);

}  // namespace ebb::ops
