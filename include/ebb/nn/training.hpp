// A step of training: the loss of a batch, its gradients by the weights, and the optimizer's update.
//
//   model.train();
//   nn::Adam adam(model.weights());
//   nn::TrainingStep step(model, adam, [&](const Tensor& x, const Tensor& y) {
//     return nn::softmax_cross_entropy(model(x), y);
//   });
//   float loss = step(batch.x, batch.y).item<float>();
//
// Without labels, of a loss of the inputs alone:
//
//   nn::TrainingStep step(model, adam, [&](const Tensor& x) {
//     return nn::mean_squared_error(model(x), x);
//   });
//   float loss = step(batch.x).item<float>();
//
// Weights of the model that the optimizer was not given stay as they are, and no gradients are taken
// by them. What the loss uses besides the model, another model say, is seen as it is in each step.
//
// A step that is taken within the loss of a recorded one, itself or another, runs its loss as it is written and
// is recorded with it.
#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "ebb/nn/layer.hpp"
#include "ebb/nn/optimizers.hpp"
#include "ebb/program/record.hpp"

namespace ebb::nn {

class LayersUsed;

struct TrainingOptions {
  // The first step with given shapes runs the loss as it is written; later ones run what it did, by
  // one call (ebb/program/record.hpp). Without, each step runs the loss.
  bool record = true;
  // On the CPU a recorded step gives the numbers of one that is not, to the bit. Without, their last bits may be others.
  bool exact = false;
};

// Of inputs alone, not of labels too.
template <typename Fn>
concept LossOfInputs = std::is_invocable_r_v<Tensor, Fn&, const Tensor&> &&
    !std::is_invocable_v<Fn&, const Tensor&, const Tensor&>;

class TrainingStep {
 public:
  // A float scalar of inputs and labels.
  using Loss = std::function<Tensor(const Tensor& x, const Tensor& y)>;

  // Throws Error(kInvalidArgument) where there is no loss. Pre: model and optimizer outlive the step.
  TrainingStep(Layer& model, Optimizer& optimizer, Loss loss, const TrainingOptions& options = {});
  template <LossOfInputs Fn>
  TrainingStep(Layer& model, Optimizer& optimizer, Fn loss, const TrainingOptions& options = {})
      : TrainingStep(model, optimizer, with_labels(std::move(loss)), options) {}

  ~TrainingStep();
  // A recording has its address.
  TrainingStep(const TrainingStep&) = delete;
  TrainingStep& operator=(const TrainingStep&) = delete;

  // A loss that is asked without labels gets a tensor that is none for them.
  Tensor operator()(const Tensor& x) { return (*this)(x, Tensor()); }
  // The loss before the update. Throws Error(kInvalidArgument) where there are no gradients of it by any of the
  // optimizer's weights. All weights get their next values or, where it throws, none; states
  // (running means) may have been followed by then in a step that is not recorded.
  Tensor operator()(const Tensor& x, const Tensor& y);

  // Since the step was made; programs and operations are those that it has now. Nearly all steps should be
  // replayed: where they are not, something that the loss uses is another one in each step.
  RecordedInfo info() const noexcept;

 private:
  struct Recording;

  static Loss with_labels(std::function<Tensor(const Tensor&)> loss);
  Tensor run(const Tensor& x, const Tensor& y, bool seeded);
  Tensor run_unrecorded(const Tensor& x, const Tensor& y);
  Tensor checked_loss(const Tensor& x, const Tensor& y) const;
  bool is_recorded_so(bool seeded);
  void record_anew(bool seeded);
  Tensor replay_or_record(const Tensor& x, const Tensor& y);
  void take_seed();

  Layer& model_;
  Optimizer& optimizer_;
  const Loss loss_;
  const TrainingOptions options_;
  std::shared_ptr<const Recording> recording_;
  RecordedInfo before_;  // of recordings that were dropped, and of steps without
  bool under_way_ = false;
  std::unique_ptr<Variable> seed_;  // of what layers draw; none before set_seed()
  // What a recording has in it.
  bool seeded_ = false;
  std::vector<std::uint64_t> layers_;  // of the model, their serials
  const std::unique_ptr<LayersUsed> used_;
  std::uint64_t changes_ = 0;  // of layers, when these were last found to be as they were
};

}  // namespace ebb::nn
