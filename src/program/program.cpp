#include "ebb/program/program.hpp"

#include "ops/program_scope.hpp"
#include "program/draft.hpp"
#include "program/graphs.hpp"
#include "program/kept.hpp"
#include "program/plan_run.hpp"

namespace ebb {

Program::Program(std::shared_ptr<const programs::Plan> plan)
    : plan_(std::move(plan)),
      graphs_(std::make_shared<programs::Graphs>(*plan_)),
      kept_(std::make_shared<programs::Kept>()),
      pace_(std::make_shared<ops::ProgramPace>()) {}

std::size_t Program::graphs() const noexcept { return graphs_->count(); }
std::string Program::without_graphs() const { return graphs_->why_not(); }

std::size_t Program::inputs() const noexcept { return plan_->inputs; }
std::size_t Program::outputs() const noexcept { return plan_->outputs.size(); }
std::size_t Program::steps() const noexcept { return plan_->steps.size(); }
std::size_t Program::fused_steps() const noexcept {
  return plan_->fused.empty() ? plan_->steps.size() : plan_->fused.size();
}
std::size_t Program::constants() const noexcept { return plan_->constants.size(); }
std::size_t Program::kept() const { return kept_->count(); }
std::span<const Handle> Program::captured() const noexcept { return plan_->captured; }

namespace {

void check_room(const programs::Plan& plan, std::span<ops::OpResult> results) {
  if (results.size() == plan.outputs.size()) return;
  raise(ErrorKind::kInvalidArgument, "[program_run] there is room for {} results, it has {}",
        results.size(), plan.outputs.size());
}

}  // namespace

void Program::run(const ops::RunPlace& place, std::span<const Handle> given,
                  std::span<ops::OpResult> results) const {
  check_room(*plan_, results);
  const auto step_by_step = [&](const programs::KeptTensors& kept) {
    ops::ProgramScope scope(place.device, plan_->share ? pace_.get() : nullptr);
    programs::PlanRun run(*plan_, place, given);
    run.run_to_end(kept.get(), results);
    scope.complete();
  };
  if (graphs_->run(*plan_, place, given, results)) return;
  try {
    step_by_step(kept_->find(*plan_, place, given));
  } catch (const OutOfMemory&) {
    const bool graphs = graphs_->let_go(), kept = kept_->let_go();
    if (!graphs && !kept) throw;
    step_by_step(nullptr);
  }
}

void Program::run_partly(const ops::RunPlace& place, std::span<const Handle> given,
                         std::span<ops::OpResult> results) const {
  check_room(*plan_, results);
  programs::PlanRun(*plan_, place, given, programs::Given::kSome).run_partly(results);
}

ProgramDraft::ProgramDraft(const Context& context, std::span<const Handle> inputs,
                           ProgramOptions options)
    : body_(std::make_unique<programs::DraftBody>(context, inputs, options)) {}

ProgramDraft::~ProgramDraft() = default;

void ProgramDraft::input(Handle tensor) { body_->input(tensor); }
bool ProgramDraft::variable(Handle tensor) { return body_->variable(tensor); }
void ProgramDraft::constant(Handle tensor) { body_->constant(tensor); }
void ProgramDraft::replaces(Handle tensor) { body_->replaces(tensor); }
bool ProgramDraft::of_this_thread() const noexcept { return body_->of_this_thread(); }

Program ProgramDraft::finish(std::span<const Handle> outputs) {
  return Program(std::make_shared<const programs::Plan>(body_->finish(outputs)));
}

}  // namespace ebb
