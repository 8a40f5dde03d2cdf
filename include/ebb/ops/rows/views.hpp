// The table's rows (ebb/ops/table.hpp): views: no data is moved where the operand allows it.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kViewsRows = std::to_array<Row>({
    {100, "Identity", {"x"}},
    {101, "Reshape", {"x"}, {integers("shape")}},
    {102, "ExpandDims", {"input"}, {integer("dim", "0")}},
    {103, "Slice", {"x"}, {integers("begin"), integers("size")}},
    {104, "Transpose", {"x"}, {integers("perm")}},
    {105, "Real", {"input"}},
    {106, "Imag", {"input"}},
});
// clang-format on

}  // namespace ebb::ops::detail
