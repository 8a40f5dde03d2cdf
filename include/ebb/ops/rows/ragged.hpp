// The table's rows (ebb/ops/table.hpp): ragged tensors.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kRaggedRows = std::to_array<Row>({
    // -> nested splits..., dense values
    {184, "RaggedGather", {"paramsNestedSplits*", "paramsDenseValues", "indices"},
     {integer("outputRaggedRank")}, kAny},
    // -> splits, values
    {185, "RaggedRange", {"starts", "limits", "deltas"}, {}, 2},
    {186, "RaggedTensorToTensor", {"shape", "values", "defaultValue", "rowPartitionTensors*"},
     {words("rowPartitionTypes", kRowPartition)}},
});
// clang-format on

}  // namespace ebb::ops::detail
