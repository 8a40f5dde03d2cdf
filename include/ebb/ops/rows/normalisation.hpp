// The table's rows (ebb/ops/table.hpp): normalisations.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kNormalisationRows = std::to_array<Row>({
    {235, "FusedBatchNorm", {"x", "mean", "variance", "offset?", "scale?"},
     {number("varianceEpsilon", "0.001")}},
    {236, "LRN", {"x"},
     {integer("depthRadius", "5"), number("bias", "1"),
      number("alpha", "1"), number("beta", "0.5")}},
    {237, "LRNGrad", {"x", "y", "dy"},
     {integer("depthRadius", "5"), number("bias", "1"),
      number("alpha", "1"), number("beta", "0.5")}},
    {238, "Softmax", {"logits"}, {integer("dim", "-1")}},
    {239, "LogSoftmax", {"logits"}, {integer("axis", "-1")}},
});
// clang-format on

}  // namespace ebb::ops::detail
