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
inline std::vector<Tensor> sgd_update(const Tensor& negative_rate,
                                      const std::vector<Tensor>& variables) {
  return apply(op_id("SgdUpdate"), detail::pointers(negative_rate, variables), {});
}
struct MomentumUpdateOptions {
  bool use_nesterov = false;
};
inline std::vector<Tensor> momentum_update(const Tensor& negative_rate, const Tensor& momentum,
                                           const std::vector<Tensor>& variables,
                                           const MomentumUpdateOptions& options = {}) {
  return apply(op_id("MomentumUpdate"), detail::pointers(negative_rate, momentum, variables),
               detail::Flat(options.use_nesterov).values());
}
struct AdagradUpdateOptions {
  double epsilon = 1e-7;
};
inline std::vector<Tensor> adagrad_update(const std::vector<Tensor>& variables,
                                          double learning_rate,
                                          const AdagradUpdateOptions& options = {}) {
  return apply(op_id("AdagradUpdate"), detail::pointers(variables),
               detail::Flat(learning_rate, options.epsilon).values());
}
struct AdadeltaUpdateOptions {
  double learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
};
inline std::vector<Tensor> adadelta_update(const std::vector<Tensor>& variables,
                                           const AdadeltaUpdateOptions& options = {}) {
  return apply(op_id("AdadeltaUpdate"), detail::pointers(variables),
               detail::Flat(options.learning_rate, options.rho, options.epsilon).values());
}
struct AdamaxUpdateOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double learning_rate = 0.002;
  double epsilon = 1e-7;
  double decay = 0;
};
inline std::vector<Tensor> adamax_update(const Tensor& beta1_power, const Tensor& iteration,
                                         const std::vector<Tensor>& variables,
                                         const AdamaxUpdateOptions& options = {}) {
  return apply(op_id("AdamaxUpdate"), detail::pointers(beta1_power, iteration, variables),
               detail::Flat(options.beta1, options.beta2, options.learning_rate, options.epsilon,
                            options.decay)
                   .values());
}
struct RmsPropUpdateOptions {
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
};
inline std::vector<Tensor> rms_prop_update(const std::vector<Tensor>& variables,
                                           double learning_rate,
                                           const RmsPropUpdateOptions& options = {}) {
  return apply(op_id("RmsPropUpdate"), detail::pointers(variables),
               detail::Flat(learning_rate, options.decay, options.momentum, options.epsilon,
                            options.centered)
                   .values());
}

}  // namespace ebb::ops
