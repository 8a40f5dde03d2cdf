#include "ebb/nn/layer.hpp"

#include <functional>

namespace ebb::nn {
namespace {

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
  training_ = on;
  AllParts each_part({.layer = [&](Layer& layer) { layer.training_ = on; }});
  parts(each_part);
}

}  // namespace ebb::nn
