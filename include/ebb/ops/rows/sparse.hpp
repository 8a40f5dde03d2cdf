// The table's rows (ebb/ops/table.hpp): sparse tensors.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kSparseRows = std::to_array<Row>({
    // -> indices, values, emptyRowIndicator, reverseIndexMap
    {180, "SparseFillEmptyRows", {"indices", "values", "denseShape", "defaultValue"}, {}, 4},
    // -> indices, shape
    {181, "SparseReshape", {"inputIndices", "inputShape", "newShape"}, {}, 2},
    {182, "SparseSegmentMean", {"data", "indices", "segmentIds"}},
    {183, "SparseSegmentSum", {"data", "indices", "segmentIds"}},
});
// clang-format on

}  // namespace ebb::ops::detail
