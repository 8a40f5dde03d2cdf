// The table's rows (ebb/ops/table.hpp): grayscale dilation; its attributes are those of convolutions.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kDilationRows = std::to_array<Row>({
    {216, "Dilation2D", {"x", "filter"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("outputSize", "[]")}},
    {217, "Dilation2DBackpropFilter", {"x", "filter", "dy"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]")}},
    {218, "Dilation2DBackpropInput", {"x", "filter", "dy"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]")}},
});
// clang-format on

}  // namespace ebb::ops::detail
