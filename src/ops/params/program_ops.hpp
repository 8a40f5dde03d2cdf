// Operations that only recorded programs have (ops/chain.hpp, ops/packed.hpp, ops/normed.hpp): their ids lie beyond those of
// the table, whose rows may take all of theirs.
#pragma once

#include "ebb/ops/table.hpp"

namespace ebb::ops {

inline constexpr OpId kChain = kOpIdLimit;
inline constexpr OpId kNormFactors = kOpIdLimit + 1;
inline constexpr OpId kPackedMatrix = kOpIdLimit + 2;
inline constexpr OpId kPackedProduct = kOpIdLimit + 3;
inline constexpr OpId kPackedSeparable = kOpIdLimit + 4;
// On devices that work on their own.
inline constexpr OpId kNormedConvolution = kOpIdLimit + 5;
inline constexpr OpId kNormedDepthwise = kOpIdLimit + 6;
inline constexpr OpId kRowNorm = kOpIdLimit + 7;
// Tables by id that have these as well have this many entries.
inline constexpr std::size_t kProgramOpLimit = kOpIdLimit + 8;

}  // namespace ebb::ops
