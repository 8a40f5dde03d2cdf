// The table's rows (ebb/ops/table.hpp): updates of optimizers, all variables of a model in one call.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// `variables` are, for each variable, its value, what the optimizer keeps for it, and the gradient;
// the results are, for each, value and what is kept.
// clang-format off
inline constexpr auto kOptimizersRows = std::to_array<Row>({
    // beta1 and beta2 to the power of the step, then value, first moment, second moment and
    // gradient of each variable -> those powers for the next step, then value, first moment and
    // second moment of each variable
    {245, "AdamUpdate", {"beta1Power", "beta2Power", "variables*"},
     {number("beta1", "0.9"), number("beta2", "0.999"), number("learningRate", "0.001"),
      number("epsilon", "1e-7")}, kAny},
    {246, "SgdUpdate", {"negativeRate", "variables*"}, {}, kAny},  // nothing is kept
    // kept: the accumulation
    {247, "MomentumUpdate", {"negativeRate", "momentum", "variables*"},
     {boolean("useNesterov", "false")}, kAny},
    // kept: the sum of squares
    {248, "AdagradUpdate", {"variables*"}, {number("learningRate"), number("epsilon", "1e-7")}, kAny},
    // kept: the means of the squares of gradients and of updates
    {249, "AdadeltaUpdate", {"variables*"},
     {number("learningRate", "0.001"), number("rho", "0.95"), number("epsilon", "1e-7")}, kAny},
    // beta1 to the power of the step and the steps so far -> those of the next step, and the rest;
    // kept: first moment and norm
    {250, "AdamaxUpdate", {"beta1Power", "iteration", "variables*"},
     {number("beta1", "0.9"), number("beta2", "0.999"), number("learningRate", "0.002"),
      number("epsilon", "1e-7"), number("decay", "0")}, kAny},
    // kept: the mean of squares, the moment and, where it is centered, the mean of gradients
    {251, "RmsPropUpdate", {"variables*"},
     {number("learningRate"), number("decay", "0.9"), number("momentum", "0"),
      number("epsilon", "1e-7"), boolean("centered", "false")}, kAny},
});
// clang-format on

}  // namespace ebb::ops::detail
