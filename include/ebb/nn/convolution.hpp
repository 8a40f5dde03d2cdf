// Convolutions of images [batch, height, width, channels].
//
//   nn::Conv2D conv(3, 16, {.size = {3, 3}, .padding = nn::Padding::kSame,
//                           .activation = ops::Activation::kRelu});
#pragma once

#include "ebb/nn/dense.hpp"
#include "ebb/nn/padding.hpp"

namespace ebb::nn {

// Size, strides and dilations are two numbers each, along height and width.
struct ConvOptions {
  Dims size = {3, 3};
  Dims strides = {1, 1};
  Dims dilations = {1, 1};
  Padding padding = Padding::kValid;
  ops::Activation activation = ops::Activation::kLinear;
  bool bias = true;
  Initializer initial = glorot_uniform;
};

class Conv2D final : public Layer {
 public:
  Conv2D(std::int64_t in, std::int64_t out, const ConvOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable kernel;  // [height, width, in, out]
  Variable bias;    // [out]

 private:
  const std::int64_t channels_;  // of what it is given
  const ConvOptions options_;
};

// Each channel by itself, giving `multiplier` channels.
class DepthwiseConv2D final : public Layer {
 public:
  explicit DepthwiseConv2D(std::int64_t channels, const ConvOptions& options = {},
                           std::int64_t multiplier = 1);
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable kernel;  // [height, width, channels, multiplier]
  Variable bias;    // [channels * multiplier]

 private:
  const std::int64_t channels_;
  const ConvOptions options_;
};

}  // namespace ebb::nn
