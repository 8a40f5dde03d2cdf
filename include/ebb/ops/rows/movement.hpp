// The table's rows (ebb/ops/table.hpp): data that is moved, joined, cut and repeated.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kMovementRows = std::to_array<Row>({
    {110, "BatchToSpaceND", {"x"}, {integers("blockShape"), integers("crops")}},
    {111, "SpaceToBatchND", {"x"}, {integers("blockShape"), integers("paddings")}},
    {112, "BroadcastTo", {"x"}, {integers("shape")}},
    {113, "BroadcastArgs", {"s0", "s1"}},
    {114, "Concat", {"tensors*"}, {integer("axis", "0")}},
    {115, "DepthToSpace", {"x"}, {integer("blockSize"), boolean("channelsFirst", "false")}},
    {116, "Diag", {"x"}},
    {117, "MatrixBandPart", {"input", "numLower", "numUpper"}},
    // paddings: before and after for each axis
    {118, "MirrorPad", {"x"}, {integers("paddings"), word("mode", kMirrorMode, "reflect")}},
    {119, "Pack", {"tensors*"}, {integer("axis", "0")}},
    {120, "PadV2", {"x"}, {integers("paddings"), number("constantValue", "0")}},
    {121, "Reverse", {"x"}, {integers("dims")}},
    {122, "SplitV", {"x"}, {integers("sizeSplits"), integer("axis", "0")}, kAny},
    // the masks are resolved by the caller: begin and strides for each axis, extents of the result
    {123, "StridedSlice", {"x"}, {integers("begin"), integers("strides"), integers("size")}},
    {124, "Tile", {"x"}, {integers("reps")}},
    {125, "Unpack", {"value"}, {integer("axis", "0")}, kAny},
});
// clang-format on

}  // namespace ebb::ops::detail
