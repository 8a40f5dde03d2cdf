// arithmetic of this file: of tensors
#include "ebb/nn/normalisation.hpp"

#include "ebb/ops/operators.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

Dims all_but_last(const Tensor& x) {
  Dims axes;
  for (std::size_t i = 0; i + 1 < x.shape().rank(); ++i) axes.push_back(std::int64_t(i));
  return axes;
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels, const BatchNormOptions& options)
    : gamma(ones({channels}), "gamma"),
      beta(zeros({channels}), "beta"),
      moving_mean(zeros({channels}), "moving_mean"),
      moving_variance(ones({channels}), "moving_variance"),
      options_(options) {}

Tensor BatchNorm::operator()(const Tensor& x) {
  Tensor mean = moving_mean.value(), variance = moving_variance.value();
  if (training()) {
    const Dims axes = all_but_last(x);
    mean = ops::mean(x, axes);
    variance = ops::mean(ops::squared_difference(x, mean), axes);
    follow(mean, variance);
  }
  return ops::fused_batch_norm(
      x, mean, variance,
      {.offset = beta.value(), .scale = gamma.value(), .variance_epsilon = options_.epsilon});
}

void BatchNorm::follow(const Tensor& mean, const Tensor& variance) {
  const double old = options_.momentum;
  moving_mean.assign(moving_mean.value() * old + mean * (1 - old));
  moving_variance.assign(moving_variance.value() * old + variance * (1 - old));
}

void BatchNorm::parts(Parts& parts) {
  parts.weight("gamma", gamma);
  parts.weight("beta", beta);
  parts.state("moving_mean", moving_mean);
  parts.state("moving_variance", moving_variance);
}

LayerNorm::LayerNorm(std::int64_t width, const LayerNormOptions& options)
    : gamma(ones({width}), "gamma"), beta(zeros({width}), "beta"), options_(options) {}

Tensor LayerNorm::operator()(const Tensor& x) {
  const Tensor centered = x - ops::mean(x, {-1}, {.keep_dims = true});
  const Tensor variance = ops::mean(ops::square(centered), {-1}, {.keep_dims = true});
  return centered * ops::rsqrt(variance + options_.epsilon) * gamma + beta;
}

void LayerNorm::parts(Parts& parts) {
  parts.weight("gamma", gamma);
  parts.weight("beta", beta);
}

}  // namespace ebb::nn
