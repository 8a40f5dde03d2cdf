// A layer: a function of tensors, and the variables that it uses.
//
//   class Scaled : public nn::Layer {
//    public:
//     explicit Scaled(std::int64_t width) : scale(ops::fill({width}, 1, DType::kFloat32)) {}
//     Tensor operator()(const Tensor& x) override { return x * scale; }
//     void parts(nn::Parts& parts) override { parts.weight("scale", scale); }
//     Variable scale;
//   };
//
// A layer that has layers names them in the same way, and so does a whole model. Optimizers and files
// find variables by that list alone. Everything is made in the current session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ebb/grad/variable.hpp"

namespace ebb::nn {

class Layer;

// Is told what a layer is made of.
class Parts {
 public:
  virtual ~Parts() = default;
  // Training changes it.
  virtual void weight(std::string_view name, Variable& variable) = 0;
  // It is saved with the weights, and changes otherwise: a running mean.
  virtual void state(std::string_view name, Variable& variable) = 0;
  virtual void layer(std::string_view name, Layer& layer) = 0;
};

struct NamedVariable {
  std::string name;  // "block/dense/kernel"
  Variable* variable;
};

// What a recorded step goes by, of a layer or an optimizer: where it is another, the step is recorded anew.
struct LayerState {
  std::uint64_t serial = 0;  // no other has it, also after its end; later ones have higher ones
  bool training = false;
  bool ended = false;
  std::uint64_t parts = 0;  // how often it has got one
  double learning_rate = 0;

  friend bool operator==(const LayerState&, const LayerState&) = default;
};

class Layer {
 public:
  Layer();
  virtual ~Layer();
  // Optimizers hold pointers to its variables.
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  virtual Tensor operator()(const Tensor& x) = 0;
  // Names its variables and layers, in the same order each time.
  virtual void parts(Parts&) {}

  // Its own and those of its layers, in the order in which they are named, each once: what has several names has the
  // first of them.
  std::vector<Variable*> weights();
  // Weights and states: what is saved.
  std::vector<Variable*> variables();
  std::vector<NamedVariable> named_variables();

  // Whether dropout drops and batches are normalised by their own mean, here and in its layers. A
  // new layer does not train.
  void train(bool on = true);
  // A TrainingStep hears of it while it records, and only then may it throw.
  bool training() const;

  // It and its layers, and theirs, in the order in which they are named.
  std::vector<Layer*> layers();
  // No other layer has it, also where it is at the address of one that has ended.
  std::uint64_t serial() const noexcept { return state_->serial; }
  // How often any layer has been made, has ended, was added to a Sequential or has changed its mode, or any optimizer
  // has got another rate: where that has not, no state and no layers() are others.
  static std::uint64_t changes() noexcept;

 protected:
  // Its layers are about to be called: a TrainingStep hears of it while it records.
  void tell_of_parts() const;
  // There is one more.
  void count_part();

 private:
  void switch_to(bool on);

  const std::shared_ptr<LayerState> state_;
};

}  // namespace ebb::nn
