// Depthwise convolutions with one filter for each channel, channels last: vectors of channels, a few
// pixels of the result at a time, and bias and activation before a row leaves the cache.
#pragma once

#include "backends/cpu/kernels/epilogue.hpp"
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

// Pixels [begin, end) of all images' rows, one after the other, to operands.result. On the calling thread.
// Pre: suits_depthwise.
void make_depthwise_pixels(const ops::Convolution& convolution, const DepthwiseOperands& operands,
                           std::int64_t begin, std::int64_t end, const Limits& limits);

namespace depthwise {

inline constexpr std::int64_t kPixels = 4;  // at a time, where all of them lie under the same taps

// Some pixels of the result, side by side, and the taps of their windows that lie over data. Steps are
// from one element of the same channel to the next.
struct Pixels {
  const float* data;  // under the first tap of the first pixel
  const float* filter;
  std::int64_t rows, columns;  // of taps
  std::int64_t data_row, data_column;
  std::int64_t filter_row, filter_column;
  std::int64_t data_pixel;  // from one pixel's tap to the next one's
  const float* bias;        // or null
  float* result;
  std::int64_t channels;
  Limits limits;
};

}  // namespace depthwise
}  // namespace ebb::cpu
