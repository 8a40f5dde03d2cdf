// The table's rows (ebb/ops/table.hpp): boxes, of which those that overlap are left out.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kSuppressionRows = std::to_array<Row>({
    {168, "NonMaxSuppressionV3", {"boxes", "scores"},
     {integer("maxOutputSize"), number("iouThreshold", "0.5"),
      number("scoreThreshold", "-infinity")}},
    // selected indices, how many of them are valid
    {169, "NonMaxSuppressionV4", {"boxes", "scores"},
     {integer("maxOutputSize"), number("iouThreshold", "0.5"),
      number("scoreThreshold", "-infinity"), boolean("padToMaxOutputSize", "false")}, 2},
    // selected indices, their scores
    {170, "NonMaxSuppressionV5", {"boxes", "scores"},
     {integer("maxOutputSize"), number("iouThreshold", "0.5"),
      number("scoreThreshold", "-infinity"), number("softNmsSigma", "0")}, 2},
});
// clang-format on

}  // namespace ebb::ops::detail
