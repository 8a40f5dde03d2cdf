// The table's rows (ebb/ops/table.hpp): updates of optimizers, all variables of a model in one call.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kOptimizersRows = std::to_array<Row>({
    // beta1 and beta2 to the power of the step, then value, first moment, second moment and
    // gradient of each variable -> those powers for the next step, then value, first moment and
    // second moment of each variable
    {245, "AdamUpdate", {"beta1Power", "beta2Power", "variables*"},
     {number("beta1", "0.9"), number("beta2", "0.999"), number("learningRate", "0.001"),
      number("epsilon", "1e-7")}, kAny},
});
// clang-format on

}  // namespace ebb::ops::detail
