// Which of a convolution's three tensors is computed from the other two.
#pragma once

#include <cstdint>

namespace ebb::cuda {

enum class Direction : std::uint8_t { kForward, kBackData, kBackFilter };

}  // namespace ebb::cuda
