// Convolutions by their definition, tap by tap: depthwise ones, whose sums are short, and those with
// numbers that a zero in the padding must not be multiplied with. Channels are last.
#pragma once

#include "ops/params/convolutions.hpp"

namespace ebb::cpu {

// Pre, for each: the windows are a volume's (window_taps.hpp).
void convolve_direct(const ops::Convolution& convolution, const float* data, const float* filter,
                     float* result);
void back_filter_direct(const ops::Convolution& convolution, const float* data,
                        const float* gradient, float* filter);
void back_input_direct(const ops::Convolution& convolution, const float* gradient,
                       const float* filter, float* data);

}  // namespace ebb::cpu
