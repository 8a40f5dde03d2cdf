// The table's rows (ebb/ops/table.hpp): reductions, scans and counts.
//
//   axes   those reduced over; negative counts from the end
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kReductionsRows = std::to_array<Row>({
    {140, "All", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {141, "Any", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {142, "ArgMax", {"x"}, {integer("axis", "0")}},
    {143, "ArgMin", {"x"}, {integer("axis", "0")}},
    {144, "Max", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {145, "Mean", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {146, "Min", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {147, "Prod", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {148, "Sum", {"x"}, {integers("axes"), boolean("keepDims", "false")}},
    {149, "Cumprod", {"x"},
     {integer("axis", "0"), boolean("exclusive", "false"), boolean("reverse", "false")}},
    {150, "Cumsum", {"x"},
     {integer("axis", "0"), boolean("exclusive", "false"), boolean("reverse", "false")}},
    {151, "Bincount", {"x", "weights"}, {integer("size")}},
    {152, "DenseBincount", {"x", "weights"}, {integer("size"), boolean("binaryOutput", "false")}},
    {153, "UnsortedSegmentSum", {"x", "segmentIds"}, {integer("numSegments")}},
});
// clang-format on

}  // namespace ebb::ops::detail
