#include "ebb/nn/training.hpp"

#include <algorithm>

#include "ebb/grad/grad.hpp"
#include "ebb/program/record.hpp"

namespace ebb::nn {

TrainingStep::TrainingStep(Layer& model, Optimizer& optimizer, Loss loss,
                           const TrainingOptions& options)
    : model_(model), optimizer_(optimizer), loss_(std::move(loss)), options_(options) {}

Tensor TrainingStep::run(const Tensor& x, const Tensor& y) {
  const auto both = value_and_grad(
      [this](const Tensor& inputs, const Tensor& labels) { return loss_(inputs, labels); },
      optimizer_.weights());
  ValueAndVariableGradients made = both(x, y);
  optimizer_.apply(made.gradients);
  return std::move(made.value);
}

// The model's, the optimizer's, and weights of the optimizer's that are none of the model's.
std::vector<Variable*> TrainingStep::variables() {
  std::vector<Variable*> all;
  const auto add = [&](const std::vector<Variable*>& some) {
    for (Variable* each : some) {
      if (std::ranges::find(all, each) == all.end()) all.push_back(each);
    }
  };
  add(model_.variables());
  add(optimizer_.weights());
  add(optimizer_.variables());
  return all;
}

void TrainingStep::record_anew() {
  recorded_ = record([this](const Tensor& x, const Tensor& y) { return run(x, y); }, variables(),
                     {.join = !options_.exact, .overwrite = true});
  learning_rate_ = optimizer_.learning_rate();
  mode_changes_ = Layer::mode_changes();
  modes_ = model_.modes();
}

// Layers are asked only where a mode has changed somewhere: most steps come after none.
bool TrainingStep::is_recorded_so() {
  if (!recorded_ || learning_rate_ != optimizer_.learning_rate()) return false;
  const std::uint64_t changes = Layer::mode_changes();
  if (changes == mode_changes_) return true;
  if (modes_ != model_.modes()) return false;
  mode_changes_ = changes;
  return true;
}

Tensor TrainingStep::operator()(const Tensor& x, const Tensor& y) {
  if (!options_.record) {
    Scope scope("training step");
    return scope.keep(run(x, y));
  }
  if (!is_recorded_so()) record_anew();
  return recorded_(x, y);
}

}  // namespace ebb::nn
