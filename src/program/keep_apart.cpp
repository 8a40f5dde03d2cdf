// What depends on the weights alone, apart from what each run makes.
#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/update.hpp"
#include "program/draft.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using Marks = std::vector<bool>;  // by slot

constexpr std::uint64_t kSmall = 64 << 10;

// A result that is much larger than what it is made of is not kept.
bool is_worth_keeping(const Plan& plan, const Step& step) {
  std::uint64_t in = 0, out = 0;
  for (const Slot slot : plan.slots_in(step.inputs)) {
    if (slot != kNoSlot) in = checked_add(in, bytes_in(plan, slot));
  }
  for (const Slot slot : plan.slots_in(step.results)) out = checked_add(out, bytes_in(plan, slot));
  return in > 0 && out / 2 <= checked_add(in, kSmall);
}

class Separation {
 public:
  Separation(Plan& plan, const std::vector<Step>& steps)
      : plan_(plan),
        steps_(steps),
        fixed_(fixed_slots(plan, steps)),
        name_(plan.likeness.size(), kNoSlot),
        needed_(plan.likeness.size()) {}

  std::vector<Step> make_rest() {
    for (const Slot slot : plan_.outputs) needed_[slot] = true;
    mark_ends(plan_, needed_);
    std::vector<Step> rest = rest_of_steps();
    if (!plan_.kept.empty()) plan_.keeping = steps_for_kept();
    return rest;
  }

 private:
  bool is_fixed(const Step& step) const { return fixed_[plan_.slots_in(step.results)[0]]; }

  // A view is made again each time: it would keep the memory of what it is over.
  std::vector<Step> rest_of_steps() {
    std::vector<Step> rest;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const auto results = plan_.slots_in(step->results);
      if (std::ranges::none_of(results, [&](Slot slot) { return needed_[slot]; })) continue;
      if (is_fixed(*step) && !is_view(step->op)) {
        keep(*step);
        continue;
      }
      for (const Slot slot : plan_.slots_in(step->inputs)) {
        if (slot != kNoSlot) needed_[slot] = true;
      }
      rest.push_back(*step);
    }
    std::ranges::reverse(rest);
    for (Step& step : rest) rename(step);
    return rest;
  }

  void keep(const Step& step) {
    const auto results = plan_.slots_in(step.results);
    for (const Slot slot : std::vector<Slot>(results.begin(), results.end())) {
      if (!needed_[slot]) continue;
      name_[slot] = static_cast<Slot>(plan_.likeness.size());
      plan_.likeness.push_back(Likeness(plan_.likeness[slot]));
      plan_.kept.push_back({.made = slot, .used = name_[slot]});
    }
  }

  void rename(Step& step) {
    std::vector<Slot> inputs;
    for (const Slot slot : plan_.slots_in(step.inputs)) {
      inputs.push_back(slot != kNoSlot && name_[slot] != kNoSlot ? name_[slot] : slot);
    }
    step.inputs = append<Slot>(plan_.slots, inputs);
  }

  std::vector<Step> steps_for_kept() {
    Marks wanted(plan_.likeness.size());
    for (const KeptSlot& each : plan_.kept) wanted[each.made] = true;
    std::vector<Step> made;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      const auto results = plan_.slots_in(step->results);
      if (std::ranges::none_of(results, [&](Slot slot) { return wanted[slot]; })) continue;
      for (const Slot slot : plan_.slots_in(step->inputs)) {
        if (slot != kNoSlot) wanted[slot] = true;
      }
      made.push_back(*step);
    }
    std::ranges::reverse(made);
    for (std::size_t i = 0; i < plan_.given.size(); ++i) {
      if (wanted[plan_.given[i]]) plan_.kept_of.push_back(i);
    }
    end_slots_but_kept(made);
    return made;
  }

  // In these steps the kept ones stay, by the names they are made under.
  void end_slots_but_kept(std::vector<Step>& steps) {
    end_slots(plan_, steps);
    for (Step& step : steps) {
      std::vector<Slot> ended;
      for (const Slot slot : plan_.slots_in(step.ended)) {
        if (std::ranges::find(plan_.kept, slot, &KeptSlot::made) == plan_.kept.end()) {
          ended.push_back(slot);
        }
      }
      step.ended = append<Slot>(plan_.slots, ended);
    }
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  const Marks fixed_;
  std::vector<Slot> name_;  // by slot: what it is called once it is kept
  Marks needed_;            // by each run
};

}  // namespace

std::vector<bool> fixed_slots(const Plan& plan, const std::vector<Step>& steps) {
  Marks fixed(plan.likeness.size());
  for (std::size_t i = plan.fresh(); i < plan.given.size(); ++i) fixed[plan.given[i]] = true;
  for (const Step& step : steps) {  // what it updates is another tensor in the next run
    if (!ops::update_form(step.op, plan.attributes_in(step.attributes))) continue;
    for (const Slot slot : plan.slots_in(step.inputs)) {
      if (slot != kNoSlot) fixed[slot] = false;
    }
  }
  for (const Constant& each : plan.constants) fixed[each.slot] = true;
  for (const Step& step : steps) {
    const auto inputs = plan.slots_in(step.inputs);
    const bool all =
        std::ranges::all_of(inputs, [&](Slot slot) { return slot == kNoSlot || fixed[slot]; });
    if (!all || is_random(step.op) || !is_worth_keeping(plan, step)) continue;
    for (const Slot slot : plan.slots_in(step.results)) fixed[slot] = true;
  }
  return fixed;
}

std::vector<Step> keep_apart(Plan& plan, const std::vector<Step>& steps) {
  return Separation(plan, steps).make_rest();
}

}  // namespace ebb::programs
