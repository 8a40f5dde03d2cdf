// The table's rows (ebb/ops/table.hpp): sorting and searching.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kSortingRows = std::to_array<Row>({
    {155, "TopK", {"x"}, {integer("k"), boolean("sorted", "true")}, 2},
    {156, "Unique", {"x"}, {integer("axis", "0")}, 2},  // values, index of each in values
    {157, "LowerBound", {"sortedSequence", "values"}},
    {158, "UpperBound", {"sortedSequence", "values"}},
    {159, "SearchSorted", {"sortedSequence", "values"}, {boolean("right", "false")}},
});
// clang-format on

}  // namespace ebb::ops::detail
