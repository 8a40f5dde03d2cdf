// What layers share that read sequences.
#pragma once

#include <vector>

#include "ebb/base/checked.hpp"
#include "ebb/nn/recurrent.hpp"
#include "ebb/ops/functions.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {

// What the steps get of the inputs, all of them by one product: time steps of [batch, gates].
inline std::vector<Tensor> projected(const Tensor& x, const Variable& kernel, const Variable& bias,
                                     std::string_view layer) {
  const Dims dims = sequence_dims(x, layer, kernel.value().shape().dims()[0]);
  const std::int64_t gates = bias.value().shape().dims()[0];
  const Tensor by_time = ops::transpose(x, {1, 0, 2});
  const Tensor rows = ops::reshape(by_time, {checked_mul(dims[1], dims[0]), dims[2]});
  const Tensor all = ops::reshape(ops::fused_mat_mul(rows, kernel, {.bias = bias.value()}),
                                  {dims[1], dims[0], gates});
  std::vector<Tensor> steps;
  for (std::int64_t i = 0; i < dims[1]; ++i) {
    steps.push_back(
        ops::reshape(ops::slice(all, {i, 0, 0}, {1, dims[0], gates}), {dims[0], gates}));
  }
  return steps;
}

// [batch, units] of the gate with this number.
inline Tensor gate(const Tensor& gates, std::int64_t number, std::int64_t units) {
  // arithmetic: `gates` has these columns
  return ops::slice(gates, {0, number * units}, {gates.shape().dims()[0], units});
}

// The last of the results, or all of them as [batch, time, units].
inline Tensor gathered(const std::vector<Tensor>& results, const Tensor& last,
                       const RecurrentOptions& options) {
  if (!options.sequences) return last;
  if (!results.empty()) return ops::pack(results, {.axis = 1});
  const Dims dims = dims_of(last);
  return zeros({dims[0], 0, dims[1]});
}

}  // namespace ebb::nn
