// Poolings: what their meanings leave for the kernels. Data is [batch, spatial..., channels].
#pragma once

#include <cstdint>

#include "ops/params/windows.hpp"

namespace ebb::ops {

struct Pooling {
  Windows windows;
  std::int64_t channels = 0;
  bool batch_in_index = false;  // MaxPoolWithArgmax: whether indices count from the batch's start
};

}  // namespace ebb::ops
