#include <algorithm>
#include <cmath>

#include "ebb/base/check.hpp"
#include "ebb/nn/optimizers.hpp"
#include "ebb/ops/functions/creation.hpp"
#include "nn/layers_used.hpp"
#include "nn/shapes.hpp"

namespace ebb::nn {
namespace {

std::unique_ptr<Variable> filled(const Dims& dims, double value, const std::string& name) {
  return std::make_unique<Variable>(ops::fill(dims, value, DType::kFloat32), name);
}

const std::string& name_in(const std::vector<NamedVariable>& model, const Variable* weight) {
  const auto found = std::ranges::find(model, weight, &NamedVariable::variable);
  if (found == model.end()) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::Optimizer] it has a weight \"{}\" that is none of the model's", weight->name());
  }
  return found->name;
}

}  // namespace

Optimizer::Optimizer(std::vector<Variable*> weights, double learning_rate,
                     const std::vector<Kept>& kept, const std::vector<Kept>& counters)
    : weights_(std::move(weights)),
      state_(std::make_shared<LayerState>(LayerState{.serial = LayersUsed::count_change()})) {
  detail::check_are_variables(weights_, "nn::Optimizer");
  set_learning_rate(learning_rate);
  for (const Kept& each : counters) counters_.push_back(filled({}, each.begin, each.name));
  for (const Variable* weight : weights_) {
    const Dims dims = dims_of(weight->value());
    kept_.emplace_back();
    for (const Kept& each : kept) kept_.back().push_back(filled(dims, each.begin, each.name));
  }
}

Optimizer::~Optimizer() {
  state_->ended = true;
  LayersUsed::count_change();
}

void Optimizer::set_learning_rate(double rate) {
  if (!std::isfinite(rate)) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::Optimizer] a learning rate of {} was given, a finite one is allowed", rate);
  }
  if (state_->learning_rate == rate) return;
  LayersUsed::tell(state_);
  state_->learning_rate = rate;
  LayersUsed::count_change();
}

double Optimizer::learning_rate() const {
  LayersUsed::tell(state_);
  return state_->learning_rate;
}

std::vector<Variable*> Optimizer::variables() {
  std::vector<Variable*> all;
  for (const auto& each : counters_) all.push_back(each.get());
  for (const auto& of_weight : kept_) {
    for (const auto& each : of_weight) all.push_back(each.get());
  }
  return all;
}

std::vector<NamedVariable> Optimizer::named_variables(Layer& model) {
  const std::vector<NamedVariable> known = model.named_variables();
  std::vector<NamedVariable> all;
  for (const auto& each : counters_) all.push_back({each->name(), each.get()});
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const std::string& weight = name_in(known, weights_[i]);
    for (const auto& each : kept_[i]) all.push_back({each->name() + "/" + weight, each.get()});
  }
  return all;
}

std::vector<Tensor> Optimizer::operands(std::span<const Tensor> gradients) const {
  if (gradients.size() != weights_.size()) {
    raise(ErrorKind::kInvalidArgument, "[nn::Optimizer] {} gradients were given, {} are needed",
          gradients.size(), weights_.size());
  }
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    all.push_back(weights_[i]->value());
    for (const auto& each : kept_[i]) all.push_back(each->value());
    all.push_back(gradients[i]);
  }
  return all;
}

// Nothing throws once a variable has been assigned to: the operation gives the shapes it got.
void Optimizer::apply(std::span<const Tensor> gradients) {
  if (weights_.empty() && gradients.empty()) return;
  std::vector<Tensor> counters;
  for (const auto& each : counters_) counters.push_back(each->value());
  std::vector<Tensor> next = update(counters, operands(gradients));
  std::vector<Variable*> in_order;
  for (const auto& each : counters_) in_order.push_back(each.get());
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    in_order.push_back(weights_[i]);
    for (const auto& each : kept_[i]) in_order.push_back(each.get());
  }
  EBB_CHECK(next.size() == in_order.size());
  for (std::size_t i = 0; i < next.size(); ++i) in_order[i]->assign(std::move(next[i]));
}

}  // namespace ebb::nn
