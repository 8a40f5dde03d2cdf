#include "ebb/nn/layer.hpp"

#include <atomic>
#include <functional>

namespace ebb::nn {
namespace {

std::atomic<std::uint64_t> changes_of_modes = 0;

// Shows a visitor a layer and all layers in it.
class AllParts final : public Parts {
 public:
  struct Visitor {
    std::function<void(const std::string& name, Variable&, bool trained)> variable{};
    std::function<void(Layer&)> layer{};
  };

  explicit AllParts(Visitor visitor) : visitor_(std::move(visitor)) {}

  void weight(std::string_view name, Variable& variable) override { visit(name, variable, true); }
  void state(std::string_view name, Variable& variable) override { visit(name, variable, false); }
  void layer(std::string_view name, Layer& layer) override {
    if (visitor_.layer) visitor_.layer(layer);
    const std::size_t outside = path_.size();
    path_.append(name).append("/");
    layer.parts(*this);
    path_.resize(outside);
  }

 private:
  void visit(std::string_view name, Variable& variable, bool trained) {
    if (visitor_.variable) visitor_.variable(path_ + std::string(name), variable, trained);
  }

  Visitor visitor_;
  std::string path_;
};

}  // namespace

std::vector<Variable*> Layer::weights() {
  std::vector<Variable*> all;
  AllParts each_part({.variable = [&](const std::string&, Variable& variable, bool trained) {
    if (trained) all.push_back(&variable);
  }});
  parts(each_part);
  return all;
}

std::vector<NamedVariable> Layer::named_variables() {
  std::vector<NamedVariable> all;
  AllParts each_part({.variable = [&](const std::string& name, Variable& variable, bool) {
    all.push_back({name, &variable});
  }});
  parts(each_part);
  return all;
}

std::vector<Variable*> Layer::variables() {
  std::vector<Variable*> all;
  for (const NamedVariable& each : named_variables()) all.push_back(each.variable);
  return all;
}

void Layer::train(bool on) {
  switch_to(on);
  AllParts each_part({.layer = [&](Layer& layer) { layer.switch_to(on); }});
  parts(each_part);
}

void Layer::switch_to(bool on) noexcept {
  if (training_ == on) return;
  training_ = on;
  changes_of_modes.fetch_add(1, std::memory_order_relaxed);
}

std::vector<bool> Layer::modes() {
  std::vector<bool> all{training_};
  AllParts each_part({.layer = [&](Layer& layer) { all.push_back(layer.training_); }});
  parts(each_part);
  return all;
}

std::uint64_t Layer::mode_changes() noexcept {
  return changes_of_modes.load(std::memory_order_relaxed);
}

}  // namespace ebb::nn
