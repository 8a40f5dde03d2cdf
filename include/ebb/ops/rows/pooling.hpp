// The table's rows (ebb/ops/table.hpp): poolings; their attributes are those of convolutions.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kPoolingRows = std::to_array<Row>({
    {220, "AvgPool", {"x"},
     {integers("filterSize"), integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"),
      integers("dilations", "[1,1]"), integers("outputSize", "[]")}},
    {221, "AvgPoolGrad", {"dy", "input"},
     {integers("filterSize"), integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"),
      integers("dilations", "[1,1]")}},
    {222, "AvgPool3D", {"x"},
     {integers("filterSize"), integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]"), integers("outputSize", "[]")}},
    {223, "AvgPool3DGrad", {"dy", "input"},
     {integers("filterSize"), integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]")}},
    {224, "MaxPool", {"x"},
     {integers("filterSize"), integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"),
      integers("dilations", "[1,1]"), integers("outputSize", "[]")}},
    {225, "MaxPoolGrad", {"dy", "input", "output?"},
     {integers("filterSize"), integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"),
      integers("dilations", "[1,1]")}},
    {226, "MaxPool3D", {"x"},
     {integers("filterSize"), integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]"), integers("outputSize", "[]")}},
    {227, "MaxPool3DGrad", {"dy", "input", "output?"},
     {integers("filterSize"), integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]")}},
    // values, flat index of each in the image (or in the batch)
    {228, "MaxPoolWithArgmax", {"x"},
     {integers("filterSize"), integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"),
      integers("dilations", "[1,1]"), integers("outputSize", "[]"),
      boolean("includeBatchInIndex", "false")}, 2},
});
// clang-format on

}  // namespace ebb::ops::detail
