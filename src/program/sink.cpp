// Updates of optimizers that come last.
#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/update.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

// What is made after an update while its gradients wait.
constexpr std::uint64_t kMostAfter = 64 << 10;

bool is_update(const Plan& plan, const Step& step) {
  return ops::update_form(step.op, plan.attributes_in(step.attributes)).has_value();
}

}  // namespace

bool sink_update(const Plan& plan, std::vector<Step>& steps) {
  const auto from_end = std::find_if(steps.rbegin(), steps.rend(),
                                     [&](const Step& step) { return is_update(plan, step); });
  if (from_end == steps.rend()) return false;
  if (from_end == steps.rbegin()) return true;
  const auto update = from_end.base() - 1;
  const auto results = plan.slots_in(update->results);
  std::uint64_t after = 0;
  for (auto step = update + 1; step != steps.end(); ++step) {
    for (const Slot slot : plan.slots_in(step->inputs)) {
      if (std::ranges::find(results, slot) != results.end()) return false;
    }
    for (const Slot slot : plan.slots_in(step->results)) {
      after = checked_add(after, bytes_in(plan, slot));
    }
  }
  if (after > kMostAfter) return false;
  std::rotate(update, update + 1, steps.end());
  return true;
}

std::vector<std::size_t> overwritten(const Plan& plan, const Step& update) {
  const auto form = ops::update_form(update.op, plan.attributes_in(update.attributes));
  if (!form) return {};
  const auto inputs = plan.slots_in(update.inputs), results = plan.slots_in(update.results);
  std::vector<std::size_t> places(inputs.size(), kNoPlace);
  for (std::size_t i = form->scalars; i < inputs.size(); ++i) {
    const std::size_t variable = (i - form->scalars) / form->inputs;
    const std::size_t part = (i - form->scalars) % form->inputs;
    if (part == form->outputs()) continue;  // the gradient
    const Slot made = results[form->first_output(variable) + part];
    const auto given = std::ranges::find(plan.given, inputs[i]);
    const auto at = static_cast<std::size_t>(given - plan.given.begin());
    if (given == plan.given.end() || at < plan.fresh() ||
        std::ranges::find(plan.replaced, inputs[i]) == plan.replaced.end() ||
        std::ranges::count(inputs, inputs[i]) != 1 ||
        std::ranges::find(plan.outputs, inputs[i]) != plan.outputs.end() ||
        std::ranges::find(plan.outputs, made) == plan.outputs.end()) {
      continue;
    }
    places[i] = at;
  }
  return places;
}

}  // namespace ebb::programs
