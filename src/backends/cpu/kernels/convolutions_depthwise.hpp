// Depthwise convolutions with one filter for each channel, channels last: vectors of channels, a few
// pixels of the result at a time, and bias and activation before a row leaves the cache.
#pragma once

#include "ops/params/convolutions.hpp"

namespace ebb::cpu {

struct DepthwiseOperands {
  const float* data;    // [batch, height, width, channels]
  const float* filter;  // [rows, columns, channels, 1]
  const float* bias;    // [channels], or null
  float* result;
};

bool suits_depthwise(const ops::Convolution& convolution) noexcept;

// Pre: suits_depthwise; the activation is not prelu.
void run_depthwise(const ops::Convolution& convolution, const DepthwiseOperands& operands,
                   ops::Activation activation);

namespace depthwise {

inline constexpr std::int64_t kMostTaps = 49;
inline constexpr std::int64_t kPixels = 4;  // at a time, where all of them lie under the same taps

// Some pixels of the result, side by side.
struct Pixels {
  const float* data[kMostTaps];  // of the first pixel
  const float* filter[kMostTaps];
  std::int64_t taps;
  std::int64_t step;  // in the data, from one pixel to the next
  const float* bias;
  float* result;
  std::int64_t channels;
};

}  // namespace depthwise
}  // namespace ebb::cpu
