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

std::vector<std::uint64_t> serials_of(const std::vector<Layer*>& layers) {
  std::vector<std::uint64_t> serials;
  for (const Layer* each : layers) serials.push_back(each->serial());
  return serials;
}

void add_counts(RecordedInfo& to, const RecordedInfo& counts) {
  to.calls += counts.calls;  // arithmetic: counts of steps
  to.replayed += counts.replayed;
  to.recorded += counts.recorded;
}

// True while it lives.
class Mark {
 public:
  explicit Mark(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  ~Mark() { flag_ = false; }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

 private:
  bool& flag_;
};

}  // namespace

// Variables need no names: those that a step uses are followed.
struct TrainingStep::Recording {
  Recording(TrainingStep& step, bool seeded, const ProgramOptions& options)
      : with_labels(
            [&step, seeded](const Tensor& x, const Tensor& y) { return step.run(x, y, seeded); },
            {}, options),
        without([&step, seeded](const Tensor& x) { return step.run(x, Tensor(), seeded); }, {},
                options) {}

  RecordedFunction<Loss> with_labels;
  RecordedFunction<std::function<Tensor(const Tensor&)>> without;
};

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

Tensor TrainingStep::run(const Tensor& x, const Tensor& y, bool seeded) {
  std::optional<DrawsOfStep> draws;
  if (seeded) draws.emplace(*seed_);
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

void TrainingStep::record_anew(bool seeded) {
  const ProgramOptions options{.join = !options_.exact, .overwrite = true};
  const auto next = std::make_shared<const Recording>(*this, seeded, options);
  if (recording_ != nullptr) {
    add_counts(before_, recording_->with_labels.info());
    add_counts(before_, recording_->without.info());
  }
  recording_ = next;
  seeded_ = seeded;
  layers_ = serials_of(model_.layers());
  used_->clear();
  changes_ = Layer::changes();
}

// Layers are asked only where one has changed somewhere: most steps come after none.
bool TrainingStep::is_recorded_so(bool seeded) {
  if (recording_ == nullptr || seeded_ != seeded) return false;
  const std::uint64_t changes = Layer::changes();
  if (changes == changes_) return true;
  if (!used_->are_as_they_were() || layers_ != serials_of(model_.layers())) return false;
  changes_ = changes;
  return true;
}

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
  // Who records hears all of a step that is not: its layers, and its learning rate.
  const bool records = options_.record && !under_way_ && !ops::Recorder::any_replays();
  return records ? replay_or_record(x, y) : run_unrecorded(x, y);
}

// A seed that somebody else records would be the same in each of the calls. Within a step, its seed is drawn from.
Tensor TrainingStep::run_unrecorded(const Tensor& x, const Tensor& y) {
  const bool seeded = is_seeded() && !under_way_ && !step_draws() && !ops::Recorder::any_replays();
  if (seeded) take_seed();
  ++before_.calls;  // arithmetic: counts of steps
  Scope scope("training step");
  return scope.keep(run(x, y, seeded));
}

Tensor TrainingStep::replay_or_record(const Tensor& x, const Tensor& y) {
  const bool seeded = is_seeded();
  if (seeded) take_seed();
  if (!is_recorded_so(seeded)) record_anew(seeded);
  const Mark mark(under_way_);
  const std::shared_ptr<const Recording> recording = recording_;
  const LayersUsed::Hearing hearing(*used_);
  return y ? recording->with_labels(x, y) : recording->without(x);
}

RecordedInfo TrainingStep::info() const noexcept {
  RecordedInfo info = before_;
  if (recording_ == nullptr) return info;
  for (const RecordedInfo& each : {recording_->with_labels.info(), recording_->without.info()}) {
    add_counts(info, each);
    info.programs += each.programs;  // arithmetic: of what is in memory
    info.operations += each.operations;
  }
  return info;
}

}  // namespace ebb::nn
