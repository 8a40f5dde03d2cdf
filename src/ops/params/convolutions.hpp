// Convolutions in two and three dimensions: what their meanings leave for the kernels.
#pragma once

#include <cstdint>

#include "ops/params/fused.hpp"
#include "ops/params/windows.hpp"

namespace ebb::ops {

// Forward and backward alike: the forward operation's extents. The data's channels are last, or
// axis 1; filters are [spatial..., in, out], a depthwise one [spatial..., in, multiplier].
struct Convolution {
  Windows windows;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  bool depthwise = false;
  bool channels_first = false;
  Epilogue epilogue;
};

}  // namespace ebb::ops
