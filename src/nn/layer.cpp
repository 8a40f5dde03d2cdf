#include "ebb/nn/layer.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <set>
#include <utility>

#include "nn/layers_used.hpp"

namespace ebb::nn {
namespace {

std::atomic<std::uint64_t> changes_of_layers = 0;

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

Layer::Layer()
    : state_(std::make_shared<LayerState>(LayerState{.serial = LayersUsed::count_change()})) {}

Layer::~Layer() {
  state_->ended = true;
  LayersUsed::count_change();
}

std::vector<Variable*> Layer::weights() {
  std::vector<Variable*> all;
  std::set<const Variable*> known;
  AllParts each_part({.variable = [&](const std::string&, Variable& variable, bool trained) {
    if (trained && known.insert(&variable).second) all.push_back(&variable);
  }});
  parts(each_part);
  return all;
}

std::vector<NamedVariable> Layer::named_variables() {
  std::vector<NamedVariable> all;
  std::set<const Variable*> known;
  AllParts each_part({.variable = [&](const std::string& name, Variable& variable, bool) {
    if (known.insert(&variable).second) all.push_back({name, &variable});
  }});
  parts(each_part);
  return all;
}

std::vector<Variable*> Layer::variables() {
  std::vector<Variable*> all;
  for (const NamedVariable& each : named_variables()) all.push_back(each.variable);
  return all;
}

std::vector<Layer*> Layer::layers() {
  std::vector<Layer*> all{this};
  AllParts each_part({.layer = [&](Layer& layer) { all.push_back(&layer); }});
  parts(each_part);
  return all;
}

void Layer::train(bool on) {
  for (Layer* each : layers()) each->switch_to(on);
}

bool Layer::training() const {
  LayersUsed::tell(state_);
  return state_->training;
}

void Layer::switch_to(bool on) {
  if (state_->training == on) return;
  LayersUsed::tell(state_);
  state_->training = on;
  LayersUsed::count_change();
}

void Layer::tell_of_parts() const { LayersUsed::tell(state_); }

void Layer::count_part() {
  LayersUsed::tell(state_);
  ++state_->parts;  // arithmetic: of layers in memory
  LayersUsed::count_change();
}

std::uint64_t Layer::changes() noexcept {
  return changes_of_layers.load(std::memory_order_relaxed);
}

// ---- what a step uses

namespace {

constinit thread_local LayersUsed::Hearing* listener = nullptr;

}  // namespace

LayersUsed::Hearing::Hearing(LayersUsed& used) noexcept
    : used_(used), outer_(std::exchange(listener, this)), begin_(Layer::changes()) {}

LayersUsed::Hearing::~Hearing() {
  listener = outer_;
  std::erase_if(used_.used_, [this](const Used& each) {
    return each.state->ended && each.state->serial >= begin_;
  });
}

void LayersUsed::tell(const std::shared_ptr<LayerState>& state) {
  for (const Hearing* each = listener; each != nullptr; each = each->outer_) {
    std::vector<Used>& used = each->used_.used_;
    if (std::ranges::find(used, state, &Used::state) != used.end()) continue;
    used.push_back({state, *state});
  }
}

std::uint64_t LayersUsed::count_change() noexcept {
  return changes_of_layers.fetch_add(1, std::memory_order_relaxed);
}

bool LayersUsed::are_as_they_were() const noexcept {
  return std::ranges::all_of(used_, [](const Used& each) { return *each.state == each.before; });
}

}  // namespace ebb::nn
