// What products and convolutions can do to their result while they write it (finish.cuh).
#pragma once

#include "ops/params/fused.hpp"

namespace ebb::cuda {

// (x - mean) * scale / sqrt(variance + epsilon) + offset, a number of each for a channel.
struct ChannelNorm {
  const float* mean = nullptr;  // null: no normalisation
  const float* variance = nullptr;
  const float* offset = nullptr;  // null: 0
  const float* scale = nullptr;   // null: 1
  float epsilon = 0;
};

struct Finish {
  const float* bias = nullptr;    // one a channel
  const float* addend = nullptr;  // as the result
  ChannelNorm norm;
  ops::Activation activation = ops::Activation::kLinear;
  float alpha = 0;
};

}  // namespace ebb::cuda
