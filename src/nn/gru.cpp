// arithmetic of this file: of tensors
#include "ebb/base/checked.hpp"
#include "ebb/ops/operators.hpp"
#include "nn/sequence.hpp"

namespace ebb::nn {

GRU::GRU(std::int64_t in, std::int64_t units, const RecurrentOptions& options)
    : kernel(glorot_uniform({in, checked_mul(units, 3)}), "kernel"),
      recurrent_kernel(glorot_uniform({units, checked_mul(units, 3)}), "recurrent_kernel"),
      bias(zeros({checked_mul(units, 3)}), "bias"),
      units_(units),
      options_(options) {}

Tensor GRU::operator()(const Tensor& x) {
  const std::vector<Tensor> steps = projected(x, kernel, bias, "GRU");
  const std::int64_t batch = x.shape().dims()[0];
  const Tensor of_gates = ops::slice(recurrent_kernel, {0, 0}, {units_, 2 * units_});
  const Tensor of_candidate = ops::slice(recurrent_kernel, {0, 2 * units_}, {units_, units_});
  Tensor hidden = zeros({batch, units_});
  std::vector<Tensor> results;
  for (const Tensor& step : steps) {
    const Tensor gates = ops::sigmoid(ops::fused_mat_mul(
        hidden, of_gates, {.bias = ops::slice(step, {0, 0}, {batch, 2 * units_})}));
    const Tensor update = gate(gates, 0, units_), reset = gate(gates, 1, units_);
    const Tensor candidate = ops::tanh(
        ops::fused_mat_mul(reset * hidden, of_candidate, {.bias = gate(step, 2, units_)}));
    hidden = update * hidden + (1 - update) * candidate;
    results.push_back(hidden);
  }
  return gathered(results, hidden, options_);
}

void GRU::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  parts.weight("recurrent_kernel", recurrent_kernel);
  parts.weight("bias", bias);
}

}  // namespace ebb::nn
