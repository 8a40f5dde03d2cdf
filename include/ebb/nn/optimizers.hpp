// From gradients to the next values of weights, all of a model's by one operation.
//
//   nn::Adam adam(model.weights(), {.learning_rate = 1e-3});
//   auto [loss, gradients] = value_and_grad(loss_of, model.weights())(x, y);
//   adam.apply(gradients);
//
// The numbers are TensorFlow.js's, to the bit; on the CPU those below the smallest normal float are
// zero.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

class Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Gradients in the order of the weights, which must outlive the optimizer. All weights get their
  // next values or, where it throws, none.
  void apply(std::span<const Tensor> gradients);
  // What it trains: some of a model's weights, or all.
  const std::vector<Variable*>& weights() const noexcept { return weights_; }
  // What it keeps from step to step.
  std::vector<Variable*> variables();
  // The same by name, "second_moment/hidden/kernel", after the model's names for its weights. Throws
  // Error(kInvalidArgument) where a weight is none of the model's.
  std::vector<NamedVariable> named_variables(Layer& model);

  // A TrainingStep hears of it while it records, and only then may it throw.
  double learning_rate() const;
  // A recorded step has the rate in it: TrainingStep records it again. Throws Error(kInvalidArgument), as making an
  // optimizer does, where the rate is infinite or no number.
  void set_learning_rate(double rate);

 protected:
  struct Kept {
    std::string name;
    double begin;  // its value before the first step
  };
  // What is kept: for each weight tensors like it, and `counters` for all of them together.
  Optimizer(std::vector<Variable*> weights, double learning_rate, const std::vector<Kept>& kept,
            const std::vector<Kept>& counters = {});

 private:
  // One operation of the table: `variables` are value, what is kept and gradient of each weight;
  // the result is the next counters, then value and what is kept of each.
  virtual std::vector<Tensor> update(std::span<const Tensor> counters,
                                     const std::vector<Tensor>& variables) const = 0;
  std::vector<Tensor> operands(std::span<const Tensor> gradients) const;

  const std::vector<Variable*> weights_;
  const std::shared_ptr<LayerState> state_;
  std::vector<std::unique_ptr<Variable>> counters_;
  std::vector<std::vector<std::unique_ptr<Variable>>> kept_;  // by weight
};

struct SgdOptions {
  double learning_rate = 0.01;
};
class Sgd final : public Optimizer {
 public:
  explicit Sgd(std::vector<Variable*> weights, const SgdOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
};

struct MomentumOptions {
  double learning_rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
};
class Momentum final : public Optimizer {
 public:
  explicit Momentum(std::vector<Variable*> weights, const MomentumOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const MomentumOptions options_;
};

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
};
class Adam final : public Optimizer {
 public:
  explicit Adam(std::vector<Variable*> weights, const AdamOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const AdamOptions options_;
};

struct AdagradOptions {
  double learning_rate = 0.01;
  double initial_accumulator = 0.1;
  double epsilon = 1e-7;
};
class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(std::vector<Variable*> weights, const AdagradOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const AdagradOptions options_;
};

struct AdadeltaOptions {
  double learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-7;
};
class Adadelta final : public Optimizer {
 public:
  explicit Adadelta(std::vector<Variable*> weights, const AdadeltaOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const AdadeltaOptions options_;
};

struct AdamaxOptions {
  double learning_rate = 0.002;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-7;
  double decay = 0;
};
class Adamax final : public Optimizer {
 public:
  explicit Adamax(std::vector<Variable*> weights, const AdamaxOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const AdamaxOptions options_;
};

struct RmsPropOptions {
  double learning_rate = 0.01;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;  // TensorFlow.js's formula: NaN where a gradient stays 0
};
class RmsProp final : public Optimizer {
 public:
  explicit RmsProp(std::vector<Variable*> weights, const RmsPropOptions& options = {});

 private:
  std::vector<Tensor> update(std::span<const Tensor>, const std::vector<Tensor>&) const override;
  const RmsPropOptions options_;
};

}  // namespace ebb::nn
