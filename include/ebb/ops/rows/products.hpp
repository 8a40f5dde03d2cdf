// The table's rows (ebb/ops/table.hpp): matrix products.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kProductsRows = std::to_array<Row>({
    {200, "BatchMatMul", {"a", "b"},
     {boolean("transposeA", "false"), boolean("transposeB", "false")}},
    {201, "_FusedMatMul", {"a", "b", "bias?", "preluActivationWeights?"},
     {boolean("transposeA", "false"), boolean("transposeB", "false"),
      word("activation", kActivation, "linear"), number("leakyreluAlpha", "0.2")}},
});
// clang-format on

}  // namespace ebb::ops::detail
