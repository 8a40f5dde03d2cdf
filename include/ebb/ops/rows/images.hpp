// The table's rows (ebb/ops/table.hpp): images: resized, cropped and turned.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kImagesRows = std::to_array<Row>({
    {160, "CropAndResize", {"image", "boxes", "boxInd"},
     {integers("cropSize"), word("method", kInterpolation, "bilinear"),
      number("extrapolationValue", "0")}},
    {161, "FlipLeftRight", {"image"}},
    {162, "ResizeBilinear", {"images"},
     {integers("size"), boolean("alignCorners", "false"), boolean("halfPixelCenters", "false")}},
    {163, "ResizeBilinearGrad", {"images", "dy"}, {boolean("alignCorners", "false")}},
    {164, "ResizeNearestNeighbor", {"images"},
     {integers("size"), boolean("alignCorners", "false"), boolean("halfPixelCenters", "false")}},
    {165, "ResizeNearestNeighborGrad", {"images", "dy"}, {boolean("alignCorners", "false")}},
    // fillValue: one number, or one a channel; center: x and y as fractions
    {166, "RotateWithOffset", {"image"},
     {number("radians"), numbers("fillValue", "[0]"), numbers("center", "[0.5]")}},
    // outputShape: height and width, or none for those of the image
    {167, "Transform", {"image", "transforms"},
     {word("interpolation", kInterpolation, "nearest"), word("fillMode", kFillMode, "constant"),
      number("fillValue", "0"), integers("outputShape", "[]")}},
});
// clang-format on

}  // namespace ebb::ops::detail
