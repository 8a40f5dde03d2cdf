#include "ebb/program/program.hpp"

#include "program/draft.hpp"

namespace ebb {
namespace programs {
namespace {

// One run: the tensors of its slots. What it has made and not handed out ends with it.
class Run {
 public:
  Run(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given)
      : plan_(plan),
        place_(place),
        handles_(plan.likeness.size()),
        owned_(plan.likeness.size()),
        operands_(plan.most_inputs),
        results_(plan.most_results),
        held_(given.size()) {
    take(given);
    for (const Constant& each : plan.constants) handles_[each.slot] = each.tensor.handle();
  }
  ~Run() {
    for (std::size_t slot = 0; slot < owned_.size(); ++slot) {
      if (owned_[slot] != 0) Tensor(place_.context, handles_[slot]) = Tensor();
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void step(const Step& step);
  void hand_out(std::span<ops::OpResult> results);

 private:
  void take(std::span<const Handle> given);
  void check(std::size_t i) const;
  void check_result(const Step& step, std::size_t i) const;

  const Plan& plan_;
  const ops::RunPlace& place_;
  std::vector<Handle> handles_;  // by slot
  std::vector<char> owned_;
  std::vector<Handle> operands_;
  std::vector<ops::OpResult> results_;
  std::vector<Operand> held_;
};

void Run::take(std::span<const Handle> given) {
  if (given.size() != plan_.given.size()) {
    raise(ErrorKind::kInvalidArgument, "[program_run] {} tensors were given, {} are needed",
          given.size(), plan_.given.size());
  }
  place_.context.resolve(given, held_, "program_run");
  for (std::size_t i = 0; i < given.size(); ++i) {
    check(i);
    handles_[plan_.given[i]] = given[i];
  }
}

void Run::check(std::size_t i) const {
  const Operand& operand = held_[i];
  const Likeness& recorded = plan_.likeness[plan_.given[i]];
  if (operand && operand.dtype == recorded.dtype && operand.shape == recorded.shape) return;
  if (!operand) raise(ErrorKind::kStaleHandle, "[program_run] 0 names no tensor");
  raise(ErrorKind::kInvalidArgument, "[program_run] {} {} is {} {}, {} {} was recorded",
        i < plan_.inputs ? "input" : "captured tensor", i < plan_.inputs ? i : i - plan_.inputs,
        name_of(operand.dtype), operand.shape.to_string(), name_of(recorded.dtype),
        recorded.shape.to_string());
}

void Run::check_result(const Step& step, std::size_t i) const {
  const Likeness& recorded = plan_.likeness[plan_.slots_in(step.results)[i]];
  if (results_[i].shape == recorded.shape) return;
  raise(ErrorKind::kWrongState, "[program_run] a result of {} is {}, {} was recorded",
        ops::find_op(step.op)->name, results_[i].shape.to_string(), recorded.shape.to_string());
}

void Run::step(const Step& step) {
  const std::span<const Slot> inputs = plan_.slots_in(step.inputs);
  const std::span<const Slot> made = plan_.slots_in(step.results);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands_[i] = inputs[i] == kNoSlot ? 0 : handles_[inputs[i]];
  }
  const std::size_t count =
      ops::run(place_, step.op, {operands_.data(), inputs.size()},
               plan_.attributes_in(step.attributes), {results_.data(), made.size()});
  for (std::size_t i = 0; i < count; ++i) {
    handles_[made[i]] = results_[i].handle;
    owned_[made[i]] = 1;
  }
  EBB_CHECK(count == made.size());  // it is the operation's, or in its attributes
  for (std::size_t i = 0; i < made.size(); ++i) check_result(step, i);
  for (const Slot slot : plan_.slots_in(step.ended)) {
    owned_[slot] = 0;
    place_.context.dispose(handles_[slot]);
  }
}

// In two passes: once a tensor is the caller's, nothing may throw.
void Run::hand_out(std::span<ops::OpResult> results) {
  std::vector<Tensor> shared;
  shared.reserve(results.size());
  std::vector<char> taken(owned_);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Slot slot = plan_.outputs[i];
    const Likeness& like = plan_.likeness[slot];
    results[i] = {handles_[slot], like.dtype, like.shape};
    if (taken[slot] != 0) {
      taken[slot] = 0;
    } else {
      shared.emplace_back(place_.context, place_.context.share(handles_[slot], place_.region));
      results[i].handle = shared.back().handle();
    }
  }
  for (Tensor& each : shared) static_cast<void>(each.release());
  owned_ = std::move(taken);
}

}  // namespace
}  // namespace programs

std::size_t Program::inputs() const noexcept { return plan_->inputs; }
std::size_t Program::outputs() const noexcept { return plan_->outputs.size(); }
std::size_t Program::steps() const noexcept { return plan_->steps.size(); }
std::size_t Program::constants() const noexcept { return plan_->constants.size(); }
std::span<const Handle> Program::captured() const noexcept { return plan_->captured; }

void Program::run(const ops::RunPlace& place, std::span<const Handle> given,
                  std::span<ops::OpResult> results) const {
  if (results.size() != plan_->outputs.size()) {
    raise(ErrorKind::kInvalidArgument, "[program_run] there is room for {} results, it has {}",
          results.size(), plan_->outputs.size());
  }
  programs::Run run(*plan_, place, given);
  for (const programs::Step& step : plan_->steps) run.step(step);
  run.hand_out(results);
}

ProgramDraft::ProgramDraft(const Context& context, std::span<const Handle> inputs,
                           ProgramOptions options)
    : body_(std::make_unique<programs::DraftBody>(context, inputs, options)) {}

ProgramDraft::~ProgramDraft() = default;

void ProgramDraft::input(Handle tensor) { body_->input(tensor); }
void ProgramDraft::constant(Handle tensor) { body_->constant(tensor); }
bool ProgramDraft::of_this_thread() const noexcept { return body_->of_this_thread(); }

Program ProgramDraft::finish(std::span<const Handle> outputs) {
  return Program(std::make_shared<const programs::Plan>(body_->finish(outputs)));
}

}  // namespace ebb
