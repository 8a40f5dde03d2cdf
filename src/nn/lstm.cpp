// arithmetic of this file: of tensors
#include "ebb/base/checked.hpp"
#include "ebb/ops/operators.hpp"
#include "nn/sequence.hpp"

namespace ebb::nn {
namespace {

Tensor initial_bias(std::int64_t units) {
  return ops::concat({zeros({units}), ones({units}), zeros({checked_mul(units, 2)})});
}

}  // namespace

LSTM::LSTM(std::int64_t in, std::int64_t units, const RecurrentOptions& options)
    : kernel(glorot_uniform({in, checked_mul(units, 4)}), "kernel"),
      recurrent_kernel(glorot_uniform({units, checked_mul(units, 4)}), "recurrent_kernel"),
      bias(initial_bias(units), "bias"),
      units_(units),
      options_(options) {}

Tensor LSTM::operator()(const Tensor& x) {
  const std::vector<Tensor> steps = projected(x, kernel, bias, "LSTM");
  const std::int64_t batch = x.shape().dims()[0];
  Tensor hidden = zeros({batch, units_}), cell = hidden;
  std::vector<Tensor> results;
  for (const Tensor& step : steps) {
    const Tensor gates = ops::fused_mat_mul(hidden, recurrent_kernel, {.bias = step});
    const Tensor in = ops::sigmoid(gate(gates, 0, units_));
    const Tensor forget = ops::sigmoid(gate(gates, 1, units_));
    const Tensor candidate = ops::tanh(gate(gates, 2, units_));
    const Tensor out = ops::sigmoid(gate(gates, 3, units_));
    cell = forget * cell + in * candidate;
    hidden = out * ops::tanh(cell);
    results.push_back(hidden);
  }
  return gathered(results, hidden, options_);
}

void LSTM::parts(Parts& parts) {
  parts.weight("kernel", kernel);
  parts.weight("recurrent_kernel", recurrent_kernel);
  parts.weight("bias", bias);
}

}  // namespace ebb::nn
