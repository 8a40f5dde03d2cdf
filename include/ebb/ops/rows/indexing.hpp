// The table's rows (ebb/ops/table.hpp): gathers and scatters.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kIndexingRows = std::to_array<Row>({
    {130, "GatherV2", {"x", "indices"}, {integer("axis", "0"), integer("batchDims", "0")}},
    {131, "GatherNd", {"params", "indices"}},
    {132, "ScatterNd", {"indices", "updates"}, {integers("shape")}},
    {133, "TensorScatterUpdate", {"tensor", "indices", "updates"}},
    {134, "SparseToDense", {"sparseIndices", "sparseValues", "defaultValue"},
     {integers("outputShape")}},
    {135, "Where", {"condition"}},  // coordinates of what is true
});
// clang-format on

}  // namespace ebb::ops::detail
