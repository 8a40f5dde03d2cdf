// What is added around an image before a window runs over it.
#pragma once

#include "ebb/nn/initial.hpp"

namespace ebb::nn {

enum class Padding : std::uint8_t {
  kValid,  // nothing
  kSame    // zeros, so that a stride of 1 leaves the extents as they are
};

// As operations take it: before and after for each spatial axis. `image` is [batch, height, width,
// channels].
Dims pads_of(Padding padding, const Dims& image, const Dims& size, const Dims& strides,
             const Dims& dilations = {1, 1});

}  // namespace ebb::nn
