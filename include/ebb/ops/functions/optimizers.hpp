// Updates of optimizers as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp optimizers` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct AdamUpdateOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double learning_rate = 0.001;
  double epsilon = 1e-7;
};
inline std::vector<Tensor> adam_update(const Tensor& beta1_power, const Tensor& beta2_power,
                                       const std::vector<Tensor>& variables,
                                       const AdamUpdateOptions& options = {}) {
  return apply(
      op_id("AdamUpdate"), detail::pointers(beta1_power, beta2_power, variables),
      detail::Flat(options.beta1, options.beta2, options.learning_rate, options.epsilon).values());
}

}  // namespace ebb::ops
