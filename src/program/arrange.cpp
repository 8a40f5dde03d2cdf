// From what was heard to what is run.
#include <algorithm>

#include "program/draft.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using Marks = std::vector<bool>;  // by slot

void mark(std::span<const Slot> slots, Marks& marks) {
  for (const Slot slot : slots) {
    if (slot != kNoSlot) marks[slot] = true;
  }
}

// Last to first: what is needed is known before what makes it is met.
Marks drop_steps(Plan& plan, std::span<const MadeDense> dense) {
  Marks needed(plan.likeness.size());
  mark(plan.outputs, needed);
  std::vector<Step> kept;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    const auto results = plan.slots_in(step->results);
    bool is_needed = std::ranges::any_of(results, [&](Slot slot) { return needed[slot]; });
    const auto at = static_cast<std::size_t>(plan.steps.rend() - step) - 1;
    for (; !dense.empty() && dense.back().step >= at; dense = dense.first(dense.size() - 1)) {
      is_needed = is_needed || (dense.back().step == at && needed[dense.back().slot]);
    }
    if (!is_needed) continue;
    mark(plan.slots_in(step->inputs), needed);
    kept.push_back(*step);
  }
  std::ranges::reverse(kept);
  plan.steps = std::move(kept);
  return needed;
}

void drop_given(Plan& plan, std::span<const Slot> captured, const Marks& needed) {
  std::vector<Handle> names;
  for (std::size_t i = 0; i < captured.size(); ++i) {
    if (!needed[captured[i]]) continue;
    plan.given.push_back(captured[i]);
    names.push_back(plan.captured[i]);
  }
  plan.captured = std::move(names);
  std::erase_if(plan.constants, [&](const Constant& each) { return !needed[each.slot]; });
}

}  // namespace

// A slot that a step made ends after its last use, or at once where it has none; outputs do not.
void end_slots(Plan& plan, std::vector<Step>& steps) {
  Marks decided(plan.likeness.size());
  mark(plan.given, decided);
  mark(plan.outputs, decided);
  for (const KeptSlot& each : plan.kept) decided[each.used] = true;
  for (const Constant& each : plan.constants) decided[each.slot] = true;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    step->ended.begin = static_cast<std::uint32_t>(plan.slots.size());
    for (const Part part : {step->inputs, step->results}) {
      for (std::uint32_t i = part.begin; i < part.begin + part.count; ++i) {
        const Slot slot = plan.slots[i];
        if (slot == kNoSlot || decided[slot]) continue;
        decided[slot] = true;
        plan.slots.push_back(slot);
      }
    }
    step->ended.count = static_cast<std::uint32_t>(plan.slots.size()) - step->ended.begin;
    plan.most_inputs = std::max<std::size_t>(plan.most_inputs, step->inputs.count);
    plan.most_results = std::max<std::size_t>(plan.most_results, step->results.count);
  }
}

void arrange(Plan& plan, std::span<const Slot> captured, bool drop,
             std::span<const MadeDense> dense) {
  const Marks needed = drop ? drop_steps(plan, dense) : Marks(plan.likeness.size(), true);
  drop_given(plan, captured, needed);
  end_slots(plan, plan.steps);
}

}  // namespace ebb::programs
