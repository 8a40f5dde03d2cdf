// Each optimizer's operation.
#include "ebb/nn/optimizers.hpp"

#include "ebb/ops/functions/creation.hpp"
#include "ebb/ops/functions/optimizers.hpp"

namespace ebb::nn {
namespace {

using Tensors = std::vector<Tensor>;
using Counters = std::span<const Tensor>;
using Weights = std::vector<Variable*>;

Tensor number(double value) { return ops::fill({}, value, DType::kFloat32); }

}  // namespace

Sgd::Sgd(Weights weights, const SgdOptions& options)
    : Optimizer(std::move(weights), options.learning_rate, {}) {}
Tensors Sgd::update(Counters, const Tensors& variables) const {
  return ops::sgd_update(number(-learning_rate()), variables);
}

Momentum::Momentum(Weights weights, const MomentumOptions& options)
    : Optimizer(std::move(weights), options.learning_rate, {{"accumulation", 0}}),
      options_(options) {}
Tensors Momentum::update(Counters, const Tensors& variables) const {
  return ops::momentum_update(number(-learning_rate()), number(options_.momentum), variables,
                              {.use_nesterov = options_.nesterov});
}

Adam::Adam(Weights weights, const AdamOptions& options)
    : Optimizer(std::move(weights), options.learning_rate,
                {{"first_moment", 0}, {"second_moment", 0}},
                {{"beta1_power", options.beta1}, {"beta2_power", options.beta2}}),
      options_(options) {}
Tensors Adam::update(Counters counters, const Tensors& variables) const {
  return ops::adam_update(counters[0], counters[1], variables,
                          {.beta1 = options_.beta1,
                           .beta2 = options_.beta2,
                           .learning_rate = learning_rate(),
                           .epsilon = options_.epsilon});
}

Adagrad::Adagrad(Weights weights, const AdagradOptions& options)
    : Optimizer(std::move(weights), options.learning_rate,
                {{"squares", options.initial_accumulator}}),
      options_(options) {}
Tensors Adagrad::update(Counters, const Tensors& variables) const {
  return ops::adagrad_update(variables, learning_rate(), {.epsilon = options_.epsilon});
}

Adadelta::Adadelta(Weights weights, const AdadeltaOptions& options)
    : Optimizer(std::move(weights), options.learning_rate, {{"squares", 0}, {"updates", 0}}),
      options_(options) {}
Tensors Adadelta::update(Counters, const Tensors& variables) const {
  return ops::adadelta_update(
      variables,
      {.learning_rate = learning_rate(), .rho = options_.rho, .epsilon = options_.epsilon});
}

Adamax::Adamax(Weights weights, const AdamaxOptions& options)
    : Optimizer(std::move(weights), options.learning_rate, {{"first_moment", 0}, {"norm", 0}},
                {{"beta1_power", options.beta1}, {"iteration", 0}}),
      options_(options) {}
Tensors Adamax::update(Counters counters, const Tensors& variables) const {
  return ops::adamax_update(counters[0], counters[1], variables,
                            {.beta1 = options_.beta1,
                             .beta2 = options_.beta2,
                             .learning_rate = learning_rate(),
                             .epsilon = options_.epsilon,
                             .decay = options_.decay});
}

RmsProp::RmsProp(Weights weights, const RmsPropOptions& options)
    : Optimizer(std::move(weights), options.learning_rate,
                options.centered ? std::vector<Kept>{{"squares", 0}, {"moment", 0}, {"mean", 0}}
                                 : std::vector<Kept>{{"squares", 0}, {"moment", 0}}),
      options_(options) {}
Tensors RmsProp::update(Counters, const Tensors& variables) const {
  return ops::rms_prop_update(variables, learning_rate(),
                              {.decay = options_.decay,
                               .momentum = options_.momentum,
                               .epsilon = options_.epsilon,
                               .centered = options_.centered});
}

}  // namespace ebb::nn
