// The table's rows (ebb/ops/table.hpp): convolutions.
//
//   strides, dilations   one number for each spatial axis
//   pads                 before and after for each spatial axis: [top, bottom, left, right]
//   outputSize           extents of the spatial axes of the result; none: what fits, rounded down
//   channelsFirst        NCHW in place of NHWC (filters are HWIO always)
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kConvolutionsRows = std::to_array<Row>({
    {205, "Conv2D", {"x", "filter"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("outputSize", "[]"), boolean("channelsFirst", "false")}},
    {206, "FusedConv2D", {"x", "filter", "bias?", "preluActivationWeights?"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("outputSize", "[]"), boolean("channelsFirst", "false"),
      word("activation", kActivation, "linear"), number("leakyreluAlpha", "0.2")}},
    {207, "Conv2DBackpropFilter", {"x", "dy"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      boolean("channelsFirst", "false"), integers("filterShape")}},
    {208, "Conv2DBackpropInput", {"dy", "filter"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      boolean("channelsFirst", "false"), integers("inputShape")}},
    {209, "DepthwiseConv2dNative", {"x", "filter"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("outputSize", "[]"), boolean("channelsFirst", "false")}},
    {210, "FusedDepthwiseConv2D", {"x", "filter", "bias?", "preluActivationWeights?"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("outputSize", "[]"), boolean("channelsFirst", "false"),
      word("activation", kActivation, "linear"), number("leakyreluAlpha", "0.2")}},
    {211, "DepthwiseConv2dNativeBackpropFilter", {"x", "dy"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("filterShape")}},
    {212, "DepthwiseConv2dNativeBackpropInput", {"dy", "filter"},
     {integers("strides", "[1,1]"), integers("pads", "[0,0,0,0]"), integers("dilations", "[1,1]"),
      integers("inputShape")}},
    {213, "Conv3D", {"x", "filter"},
     {integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]"), integers("outputSize", "[]")}},
    {214, "Conv3DBackpropFilterV2", {"x", "dy"},
     {integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]"), integers("filterShape")}},
    {215, "Conv3DBackpropInputV2", {"dy", "filter"},
     {integers("strides", "[1,1,1]"), integers("pads", "[0,0,0,0,0,0]"),
      integers("dilations", "[1,1,1]"), integers("inputShape")}},
});
// clang-format on

}  // namespace ebb::ops::detail
