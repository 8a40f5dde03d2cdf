// 3x3 convolutions by Winograd's F(2x2, 3x3), where that is faster than oneDNN: 16 multiplications
// for a tile of 2x2 results instead of 36. README.md says how, and which numbers to expect.
#pragma once

#include <cstddef>

#include "ops/params/convolutions.hpp"

namespace ebb::cpu {

struct WinogradOperands {
  const float* data;    // [batch, height, width, channels]
  const float* filter;  // [3, 3, channels, filters]
  const float* bias;    // [filters], or null
  float* result;        // [batch, height, width, filters]
  float* transformed;   // room for winograd_floats(), 64-byte aligned
};

// Whether this is such a convolution, and large enough to be faster this way.
bool suits_winograd(const ops::Convolution& convolution) noexcept;

// How many floats the transformed filters take.
std::size_t winograd_floats(const ops::Convolution& convolution);

// Pre: two axes, windows of 3x3, strides and dilations of 1, channels last and at most 256 of them;
// the activation is not prelu.
void run_winograd(const ops::Convolution& convolution, const WinogradOperands& operands,
                  ops::Activation activation);

}  // namespace ebb::cpu
