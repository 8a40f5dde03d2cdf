// arithmetic of this file: of tensors
#include "ebb/nn/normalisation.hpp"

#include <algorithm>
#include <numeric>

#include "ebb/ops/operators.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

// All but the last.
Dims averaged_axes(const Dims& dims) {
  Dims axes(dims.size() - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t channels, const BatchNormOptions& options)
    : gamma(ones({channels}), "gamma"),
      beta(zeros({channels}), "beta"),
      moving_mean(zeros({channels}), "moving_mean"),
      moving_variance(ones({channels}), "moving_variance"),
      channels_(channels),
      options_(options) {}

Tensor BatchNorm::operator()(const Tensor& x) {
  const Dims dims = row_dims(x, "BatchNorm", channels_);
  if (dims.size() < 2) refuse_input("BatchNorm", x, fmt::format("[batch, ..., {}]", channels_));
  if (x.dtype() != DType::kFloat32) refuse_dtype("BatchNorm", x, "float32");
  Tensor mean = moving_mean.value(), variance = moving_variance.value();
  if (training()) {
    if (std::ranges::find(dims, 0) != dims.end()) {
      refuse_input("BatchNorm", x, "while it trains, one with elements");
    }
    const Dims axes = averaged_axes(dims);
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
  Tensor next_mean = moving_mean.value() * old + mean * (1 - old);
  Tensor next_variance = moving_variance.value() * old + variance * (1 - old);
  moving_mean.assign(std::move(next_mean));
  moving_variance.assign(std::move(next_variance));
}

void BatchNorm::parts(Parts& parts) {
  parts.weight("gamma", gamma);
  parts.weight("beta", beta);
  parts.state("moving_mean", moving_mean);
  parts.state("moving_variance", moving_variance);
}

LayerNorm::LayerNorm(std::int64_t width, const LayerNormOptions& options)
    : gamma(ones({width}), "gamma"),
      beta(zeros({width}), "beta"),
      width_(width),
      options_(options) {}

Tensor LayerNorm::operator()(const Tensor& x) {
  static_cast<void>(row_dims(x, "LayerNorm", width_));
  const Tensor centered = x - ops::mean(x, {-1}, {.keep_dims = true});
  const Tensor variance = ops::mean(ops::square(centered), {-1}, {.keep_dims = true});
  return centered * ops::rsqrt(variance + options_.epsilon) * gamma + beta;
}

void LayerNorm::parts(Parts& parts) {
  parts.weight("gamma", gamma);
  parts.weight("beta", beta);
}

}  // namespace ebb::nn
