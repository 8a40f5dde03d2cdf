#include "ebb/nn/training.hpp"

#include <algorithm>
#include <optional>

#include "ebb/grad/grad.hpp"
#include "ebb/ops/session.hpp"
#include "ebb/program/record.hpp"
#include "nn/draws.hpp"
#include "nn/layers_used.hpp"
#include "ops/recorder.hpp"

namespace ebb::nn {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBfloat16;
}

}  // namespace

TrainingStep::TrainingStep(Layer& model, Optimizer& optimizer, Loss loss,
                           const TrainingOptions& options)
    : model_(model),
      optimizer_(optimizer),
      loss_(std::move(loss)),
      options_(options),
      used_(std::make_unique<LayersUsed>()) {
  if (!loss_) {
    raise(ErrorKind::kInvalidArgument, "[nn::TrainingStep] no loss was given, one is needed");
  }
}

TrainingStep::~TrainingStep() = default;

TrainingStep::Loss TrainingStep::with_labels(std::function<Tensor(const Tensor&)> loss) {
  if (!loss) return {};
  return [loss = std::move(loss)](const Tensor& x, const Tensor& y) {
    if (y) {
      raise(ErrorKind::kInvalidArgument,
            "[nn::TrainingStep] labels were given to a loss that takes none");
    }
    return loss(x);
  };
}

Tensor TrainingStep::checked_loss(const Tensor& x, const Tensor& y) const {
  Tensor loss = loss_(x, y);
  if (!loss) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::TrainingStep] the loss is no tensor, a float scalar is allowed");
  }
  if (!is_float(loss.dtype()) || loss.shape().rank() != 0) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::TrainingStep] the loss is {} of shape {}, a float scalar is allowed",
          name_of(loss.dtype()), loss.shape().to_string());
  }
  return loss;
}

Tensor TrainingStep::run(const Tensor& x, const Tensor& y) {
  std::optional<DrawsOfStep> draws;
  if (uses_seed_) draws.emplace(*seed_);
  const Tensor inputs = x, labels = y;  // not the variables whose values they may be
  detail::WatchingTape tape(optimizer_.weights());
  Tensor loss = checked_loss(inputs, labels);
  std::vector<Tensor> ways = tape.ways_from(loss);
  if (!ways.empty() && std::ranges::none_of(ways, [](const Tensor& each) { return bool(each); })) {
    raise(
        ErrorKind::kInvalidArgument,
        "[nn::TrainingStep] the loss depends on none of the weights that the optimizer was given");
  }
  optimizer_.apply(tape.with_zeros(std::move(ways)));
  return loss;
}

// Variables need no names: those that a step uses are followed.
void TrainingStep::record_anew() {
  const ProgramOptions options{.join = !options_.exact, .overwrite = true};
  recorded_ = record([this](const Tensor& x, const Tensor& y) { return run(x, y); }, {}, options);
  recorded_without_labels_ =
      record([this](const Tensor& x) { return run(x, Tensor()); }, {}, options);
  seeded_ = uses_seed_;
  learning_rate_ = optimizer_.learning_rate();
  layers_ = model_.layers();
  used_->clear();
  changes_ = Layer::changes();
}

// Layers are asked only where one has changed somewhere: most steps come after none.
bool TrainingStep::is_recorded_so() {
  if (!recorded_ || seeded_ != uses_seed_) return false;
  if (learning_rate_ != optimizer_.learning_rate()) return false;
  const std::uint64_t changes = Layer::changes();
  if (changes == changes_) return true;
  if (!used_->are_as_they_were() || layers_ != model_.layers()) return false;
  changes_ = changes;
  return true;
}

// A seed that somebody else records would be the same in each of the calls.
void TrainingStep::take_seed() {
  Tensor next = scalar(next_seed_of_step());
  if (seed_ == nullptr) {
    seed_ = std::make_unique<Variable>(std::move(next), "seed");
  } else {
    seed_->assign(std::move(next));
  }
}

Tensor TrainingStep::operator()(const Tensor& x, const Tensor& y) {
  if (!x) {
    raise(ErrorKind::kInvalidArgument, "[nn::TrainingStep] no inputs were given, they are needed");
  }
  uses_seed_ = is_seeded() && !ops::Recorder::any_replays();
  if (uses_seed_) take_seed();
  if (options_.record) return replay_or_record(x, y);
  Scope scope("training step");
  return scope.keep(run(x, y));
}

Tensor TrainingStep::replay_or_record(const Tensor& x, const Tensor& y) {
  if (!is_recorded_so()) record_anew();
  const LayersUsed::Hearing hearing(*used_);
  return y ? recorded_(x, y) : recorded_without_labels_(x);
}

}  // namespace ebb::nn
