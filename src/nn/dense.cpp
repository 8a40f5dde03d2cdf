#include "ebb/nn/dense.hpp"

#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

Dense::Dense(std::int64_t in, std::int64_t out, const DenseOptions& options)
    : kernel(options.initial({in, out}), "kernel"),
      bias(zeros({out}), "bias"),
      activation_(options.activation),
      has_bias_(options.bias) {}

Tensor Dense::operator()(const Tensor& x) {
  Dims dims = dims_of(x);
  const Tensor rows =
      dims.size() == 2 ? x : ops::reshape(x, {-1, kernel.value().shape().dims()[0]});
  Tensor y = ops::fused_mat_mul(
      rows, kernel, {.bias = has_bias_ ? bias.value() : Tensor(), .activation = activation_});
  if (dims.size() == 2) return y;
  if (!dims.empty()) dims.back() = bias.value().shape().dims()[0];
  return ops::reshape(y, dims);
}

void Dense::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  if (has_bias_) parts.weight("bias", bias);
}

}  // namespace ebb::nn
