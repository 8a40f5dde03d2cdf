#include "ebb/nn/padding.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

// TensorFlow's rule: ceil(extent / stride) results.
std::int64_t zeros_along(std::int64_t extent, std::int64_t size, std::int64_t stride,
                         std::int64_t dilation) {
  const std::int64_t window = checked_add(checked_mul(checked_sub(size, 1), dilation), 1);
  const std::int64_t results = extent / stride + (extent % stride != 0 ? 1 : 0);
  const std::int64_t covered = checked_add(checked_mul(checked_sub(results, 1), stride), window);
  return std::max<std::int64_t>(checked_sub(covered, extent), 0);
}

}  // namespace

// The odd one of the zeros comes after.
Dims pads_of(Padding padding, const Dims& image, const Dims& size, const Dims& strides,
             const Dims& dilations) {
  if (image.size() != 4) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::pads_of] an image of {} extents was given, 4 are needed", image.size());
  }
  check_window(size, "sizes", "pads_of");
  check_window(strides, "strides", "pads_of");
  check_window(dilations, "dilations", "pads_of");
  if (padding == Padding::kValid) return {0, 0, 0, 0};
  Dims pads;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t all =
        zeros_along(image[axis + 1], size[axis], strides[axis], dilations[axis]);
    pads.push_back(all / 2);
    pads.push_back(checked_sub(all, all / 2));
  }
  return pads;
}

}  // namespace ebb::nn
