#include "ebb/nn/padding.hpp"

#include <algorithm>

namespace ebb::nn {

// TensorFlow's rule: ceil(extent / stride) results, the odd one of the zeros after.
// arithmetic of this file: of extents that operations check afterwards, as doubles are no help here
Dims pads_of(Padding padding, const Dims& image, const Dims& size, const Dims& strides,
             const Dims& dilations) {
  if (padding == Padding::kValid) return {0, 0, 0, 0};
  Dims pads;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = image.at(axis + 1), stride = strides.at(axis);
    const std::int64_t window = (size.at(axis) - 1) * dilations.at(axis) + 1;
    const std::int64_t results = stride > 0 ? (extent + stride - 1) / stride : 0;
    const std::int64_t all = std::max<std::int64_t>((results - 1) * stride + window - extent, 0);
    pads.push_back(all / 2);
    pads.push_back(all - all / 2);
  }
  return pads;
}

}  // namespace ebb::nn
