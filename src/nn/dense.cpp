#include "ebb/nn/dense.hpp"

#include "ebb/base/checked.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

Dense::Dense(std::int64_t in, std::int64_t out, const DenseOptions& options)
    : kernel(initial_value(options.initial, {in, out}, "Dense"), "kernel"),
      bias(zeros({out}), "bias"),
      in_(in),
      out_(out),
      activation_(options.activation),
      has_bias_(options.bias) {}

Tensor Dense::operator()(const Tensor& x) {
  Dims dims = row_dims(x, "Dense", in_);
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) count = checked_mul(count, dims[i]);
  const Tensor rows = dims.size() == 2 ? x : ops::reshape(x, {count, in_});
  Tensor y = ops::fused_mat_mul(
      rows, kernel, {.bias = has_bias_ ? bias.value() : Tensor(), .activation = activation_});
  if (dims.size() == 2) return y;
  dims.back() = out_;
  return ops::reshape(y, dims);
}

void Dense::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  if (has_bias_) parts.weight("bias", bias);
}

}  // namespace ebb::nn
