// Operations that only recorded programs have, on devices that work on their own (ops/normed.hpp): their ids lie beyond
// those of the table.
#pragma once

#include "ebb/ops/table.hpp"

namespace ebb::ops {

inline constexpr OpId kNormedConvolution = kOpIdLimit;
inline constexpr OpId kNormedDepthwise = kOpIdLimit + 1;
inline constexpr OpId kRowNorm = kOpIdLimit + 2;
// Tables by id that have these as well have this many entries.
inline constexpr std::size_t kProgramOpLimit = kOpIdLimit + 3;

}  // namespace ebb::ops
