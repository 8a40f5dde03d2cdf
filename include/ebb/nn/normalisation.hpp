// Numbers brought to mean 0 and variance 1, then scaled and moved by weights.
#pragma once

#include "ebb/nn/initial.hpp"
#include "ebb/nn/layer.hpp"

namespace ebb::nn {

struct BatchNormOptions {
  double momentum = 0.99;  // of the running mean and variance
  double epsilon = 1e-3;
};

// Each channel (the last axis) over the batch and all positions. While it trains, by the batch's own
// mean and variance, which it follows slowly; otherwise by those that it has followed. A batch without
// elements has no mean: it is refused while it trains.
class BatchNorm final : public Layer {
 public:
  explicit BatchNorm(std::int64_t channels, const BatchNormOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable gamma, beta, moving_mean, moving_variance;  // [channels]

 private:
  void follow(const Tensor& mean, const Tensor& variance);

  const std::int64_t channels_;
  const BatchNormOptions options_;
};

struct LayerNormOptions {
  double epsilon = 1e-5;
};

// Each row (along the last axis) by itself.
class LayerNorm final : public Layer {
 public:
  explicit LayerNorm(std::int64_t width, const LayerNormOptions& options = {});
  Tensor operator()(const Tensor& x) override;
  void parts(Parts& parts) override;

  Variable gamma, beta;  // [width]

 private:
  const std::int64_t width_;
  const LayerNormOptions options_;
};

}  // namespace ebb::nn
