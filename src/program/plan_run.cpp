#include "program/plan_run.hpp"

#include <algorithm>
#include <utility>

#include "ebb/base/check.hpp"
#include "ops/chain.hpp"
#include "ops/update.hpp"

namespace ebb::programs {
namespace {

std::string_view name_of(ops::OpId op) {
  const ops::OpSpec* spec = ops::find_op(op);
  return (spec != nullptr ? spec : ops::find_program_op(op))->name;
}

void check_given(const Plan& plan, const Operand& operand, std::size_t i, Given which) {
  const Likeness& recorded = plan.likeness[plan.given[i]];
  if (!operand && which == Given::kSome) return;
  if (operand && operand.dtype == recorded.dtype && operand.shape == recorded.shape) return;
  if (!operand) raise(ErrorKind::kStaleHandle, "[program_run] 0 names no tensor");
  raise(ErrorKind::kInvalidArgument, "[program_run] {} {} is {} {}, {} {} was recorded",
        i < plan.inputs ? "input" : "captured tensor", i < plan.inputs ? i : i - plan.inputs,
        name_of(operand.dtype), operand.shape.to_string(), name_of(recorded.dtype),
        recorded.shape.to_string());
}

}  // namespace

void take_given(const Plan& plan, const Context& context, std::span<const Handle> given,
                std::vector<Operand>& held, Given which) {
  if (given.size() != plan.given.size()) {
    raise(ErrorKind::kInvalidArgument, "[program_run] {} tensors were given, {} are needed",
          given.size(), plan.given.size());
  }
  held.resize(given.size());
  context.resolve(given, held, "program_run");
  for (std::size_t i = 0; i < given.size(); ++i) check_given(plan, held[i], i, which);
}

std::vector<Operand> take_given(const Plan& plan, const Context& context,
                                std::span<const Handle> given) {
  std::vector<Operand> held;
  take_given(plan, context, given, held);
  return held;
}

// ---- room

namespace {

thread_local RunRoom spare;
constexpr std::size_t kMostSpare = 1024;  // slots, and tensors that are given

}  // namespace

RunRoom RunRoom::take() noexcept { return std::exchange(spare, {}); }

void RunRoom::give_back(RunRoom&& room) noexcept {
  if (room.handles.capacity() > kMostSpare || room.held.capacity() > kMostSpare) return;
  room.held.clear();
  spare = std::move(room);
}

// ----

PlanRun::PlanRun(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                 Given which)
    : plan_(plan), place_(place), room_(RunRoom::take()), given_(given) {
  take_given(plan, place.context, given, held_, which);
  handles_.assign(plan.likeness.size(), 0);
  owned_.assign(plan.likeness.size(), 0);
  operands_.resize(plan.most_inputs);
  results_.resize(plan.most_results);
  for (std::size_t i = 0; i < given.size(); ++i) handles_[plan.given[i]] = given[i];
  for (const Constant& each : plan.constants) handles_[each.slot] = each.tensor.handle();
}

PlanRun::~PlanRun() {
  for (std::size_t slot = 0; slot < owned_.size(); ++slot) {
    if (owned_[slot] != 0) Tensor(place_.context, handles_[slot]) = Tensor();
  }
  RunRoom::give_back(std::move(room_));
}

// What was kept is in the slots then.
const std::vector<Step>& PlanRun::steps_for(const std::vector<Tensor>* kept) {
  if (kept == nullptr) {
    return !plan_.fused.empty() && can_fuse(plan_, place_.device) ? plan_.fused : plan_.steps;
  }
  for (std::size_t i = 0; i < kept->size(); ++i) {
    const Handle handle = (*kept)[i].handle();
    handles_[plan_.kept[i].made] = handles_[plan_.kept[i].used] = handle;  // it may be an output
  }
  return plan_.rest;
}

void PlanRun::run(const std::vector<Tensor>* kept) {
  for (const Step& each : steps_for(kept)) step(each);
}

void PlanRun::run_to_end(const std::vector<Tensor>* kept, std::span<ops::OpResult> results) {
  const std::vector<Step>& steps = steps_for(kept);
  const bool may = plan_.overwrite && !steps.empty() && &steps != &plan_.steps;
  for (std::size_t i = 0; i + (may ? 1 : 0) < steps.size(); ++i) step(steps[i]);
  if (may) {
    const auto& places = &steps == &plan_.rest ? plan_.over_in_rest : plan_.over_in_fused;
    if (update_in_place(steps.back(), places, results)) return;
    step(steps.back());
  }
  hand_out(results);
}

bool PlanRun::has_operands(const Step& step) const {
  return std::ranges::all_of(plan_.slots_in(step.inputs),
                             [this](Slot slot) { return slot == kNoSlot || handles_[slot] != 0; });
}

// Those of a step that has failed: they are not of the recorded shapes.
void PlanRun::drop_results(const Step& step) {
  for (const Slot slot : plan_.slots_in(step.results)) {
    if (owned_[slot] != 0) place_.context.dispose(handles_[slot]);
    owned_[slot] = 0;
    handles_[slot] = 0;
  }
}

void PlanRun::run_partly(std::span<ops::OpResult> results) {
  for (const Step& each : plan_.steps) {
    if (!has_operands(each)) break;
    try {
      step(each);
    } catch (const Error&) {
      drop_results(each);
      break;
    }
  }
  hand_out(results);
}

// Of the step's inputs: alone in their memory, but for what this run holds, which it lets go of.
std::vector<char> PlanRun::may_write_over(std::span<const std::size_t> places) {
  std::vector<char> over(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == kNoPlace) continue;
    Operand& held = held_[places[i]];
    if (!held.dense || std::ranges::count(given_, given_[places[i]]) != 1) continue;
    held = Operand();
    over[i] = place_.context.is_alone(given_[places[i]]) ? 1 : 0;
  }
  return over;
}

// All that can fail comes before the first element is written. False: nothing has happened.
bool PlanRun::update_in_place(const Step& update, std::span<const std::size_t> places,
                              std::span<ops::OpResult> results) {
  const std::vector<char> over = may_write_over(places);
  if (std::ranges::find(over, 1) == over.end()) return false;
  ops::UpdateInPlace call(place_, update.op, operands_of(update),
                          plan_.attributes_in(update.attributes), over,
                          {results_.data(), update.results.count});
  take_results(update, call.results());
  hand_out(results);
  call.run();
  return true;
}

std::vector<Tensor> PlanRun::make_kept() {
  for (const Step& each : plan_.keeping) step(each);
  std::vector<Tensor> made;
  made.reserve(plan_.kept.size());
  for (const KeptSlot& each : plan_.kept) {
    owned_[each.made] = 0;
    made.emplace_back(place_.context, handles_[each.made]);
  }
  return made;
}

void PlanRun::check_result(const Step& step, std::size_t i) const {
  const Likeness& recorded = plan_.likeness[plan_.slots_in(step.results)[i]];
  if (results_[i].shape == recorded.shape) return;
  raise(ErrorKind::kWrongState, "[program_run] a result of {} is {}, {} was recorded",
        name_of(step.op), results_[i].shape.to_string(), recorded.shape.to_string());
}

std::span<const Handle> PlanRun::operands_of(const Step& step) {
  const std::span<const Slot> inputs = plan_.slots_in(step.inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    operands_[i] = inputs[i] == kNoSlot ? 0 : handles_[inputs[i]];
  }
  return {operands_.data(), inputs.size()};
}

void PlanRun::take_results(const Step& step, std::size_t count) {
  const std::span<const Slot> made = plan_.slots_in(step.results);
  for (std::size_t i = 0; i < count; ++i) {
    handles_[made[i]] = results_[i].handle;
    owned_[made[i]] = 1;
  }
  EBB_CHECK(count == made.size());  // it is the operation's, or in its attributes
  for (std::size_t i = 0; i < made.size(); ++i) check_result(step, i);
}

void PlanRun::step(const Step& step) {
  const std::size_t count =
      ops::run_in_program(place_, step.op, operands_of(step), plan_.attributes_in(step.attributes),
                          {results_.data(), step.results.count});
  take_results(step, count);
  for (const Slot slot : plan_.slots_in(step.ended)) {
    owned_[slot] = 0;
    place_.context.dispose(handles_[slot]);
  }
}

// In two passes: once a tensor is the caller's, nothing may throw.
void PlanRun::hand_out(std::span<ops::OpResult> results) {
  std::vector<Tensor> shared;
  shared.reserve(results.size());
  std::vector<char>& taken = room_.taken;
  taken = owned_;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Slot slot = plan_.outputs[i];
    const Likeness& like = plan_.likeness[slot];
    results[i] = {handles_[slot], like.dtype, like.shape};
    if (taken[slot] != 0) {
      taken[slot] = 0;
    } else if (handles_[slot] != 0) {
      shared.emplace_back(place_.context, place_.context.share(handles_[slot], place_.region));
      results[i].handle = shared.back().handle();
    }
  }
  for (Tensor& each : shared) static_cast<void>(each.release());
  std::swap(owned_, taken);
}

}  // namespace ebb::programs
