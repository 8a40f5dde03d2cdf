// Chains for a device that works on its own: there a launch costs more than most elementwise steps, so that steps are
// put together which do not follow one another, comparisons and choices among them.
#include <algorithm>
#include <array>
#include <limits>

#include "ops/chain.hpp"
#include "program/chain_code.hpp"
#include "program/device_fuse.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::size_t kNoStep = ~std::size_t{0};
constexpr std::size_t kLookAhead = 96;  // steps
constexpr std::uint64_t kMostElements = std::numeric_limits<std::int32_t>::max();

class DeviceChainMaker {
 public:
  DeviceChainMaker(Plan& plan, const std::vector<Step>& steps, std::size_t ahead)
      : plan_(plan),
        steps_(steps),
        ahead_(ahead),
        maker_(plan.likeness.size(), kNoStep),
        users_(plan.likeness.size()),
        is_output_(plan.likeness.size()),
        done_(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Slot slot : plan.slots_in(steps[i].inputs)) {
        if (slot != kNoSlot) users_[slot].push_back(i);
      }
      for (const Slot slot : plan.slots_in(steps[i].results)) maker_[slot] = i;
    }
    for (const Slot slot : plan.outputs) is_output_[slot] = true;
  }

  std::vector<Step> make() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (done_[i]) continue;
      gather(i);
      drop_escaping_truths();
      if (group_.size() >= 2 && group_[0] == i && has_whole_input()) {
        made_.push_back(fused());
        for (const std::size_t each : group_) done_[each] = true;
        if (joined_ != kNoStep) done_[joined_] = true;
      } else {
        made_.push_back(steps_[i]);
        done_[i] = true;
      }
    }
    return std::move(made_);
  }

 private:
  const Likeness& like(Slot slot) const { return plan_.likeness[slot]; }
  std::span<const Slot> inputs_of(std::size_t i) const { return plan_.slots_in(steps_[i].inputs); }
  Slot result_of(std::size_t i) const { return plan_.slots_in(steps_[i].results)[0]; }
  bool is_member(std::size_t i) const { return std::ranges::find(group_, i) != group_.end(); }
  bool is_made_here(Slot slot) const { return maker_[slot] != kNoStep && is_member(maker_[slot]); }

  bool is_elementwise(std::size_t i) const {
    const Step& step = steps_[i];
    const int operands = ops::device_chain_operands(step.op);
    if (operands == 0 || static_cast<int>(step.inputs.count) != operands) return false;
    const Likeness& result = like(result_of(i));
    const DType dtype = ops::is_truth(step.op) ? DType::kBool : DType::kFloat32;
    if (result.shape.empty() || result.dtype != dtype || result.shape.elements() > kMostElements) {
      return false;
    }
    const auto inputs = inputs_of(i);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      const bool may_miss = step.op == ops::kNormFactors && k == 1;
      if (inputs[k] == kNoSlot ? !may_miss
                               : !ops::fits_device_chain(like(inputs[k]).shape, result.shape)) {
        return false;
      }
    }
    return true;
  }

  // Numbers from anywhere before, truths from the chain itself.
  bool has_operands(std::size_t i) const {
    return std::ranges::all_of(inputs_of(i), [&](Slot slot) {
      if (slot == kNoSlot) return true;
      if (is_made_here(slot)) return like(slot).shape == like(result_of(i)).shape;
      return like(slot).dtype == DType::kFloat32 &&
             (maker_[slot] == kNoStep || done_[maker_[slot]]);
    });
  }

  void add_inputs(std::size_t i, std::vector<Slot>& inputs) const {
    for (const Slot slot : inputs_of(i)) {
      if (slot == kNoSlot || is_made_here(slot)) continue;
      if (std::ranges::find(inputs, slot) == inputs.end()) inputs.push_back(slot);
    }
  }

  bool joins(std::size_t i) const {
    if (!is_elementwise(i) || !has_operands(i)) return false;
    if (group_.empty()) return true;
    if (like(result_of(i)).shape != like(result_of(group_[0])).shape) return false;
    std::vector<Slot> inputs = inputs_;
    add_inputs(i, inputs);
    return group_.size() < ops::kMostDeviceChainSteps &&
           inputs.size() <= ops::kMostDeviceChainInputs;
  }

  // Costs nothing: it comes before a chain that needs it.
  bool is_view_of_known(std::size_t i) const {
    constexpr std::array kViews{op_id("Identity"), op_id("Reshape"), op_id("ExpandDims"),
                                op_id("Slice")};
    if (std::ranges::find(kViews, steps_[i].op) == kViews.end()) return false;
    const Slot x = inputs_of(i)[0];
    return maker_[x] == kNoStep || done_[maker_[x]];
  }

  // Steps that can be done together with step i, of those that follow it soon.
  void gather(std::size_t i) {
    group_.clear();
    inputs_.clear();
    const std::size_t end = std::min(steps_.size(), i + 1 + ahead_);
    for (std::size_t k = i; k < end; ++k) {
      if (done_[k]) continue;
      if (joins(k)) {
        add_inputs(k, inputs_);
        group_.push_back(k);
      } else if (group_.empty()) {
        return;
      } else if (is_view_of_known(k)) {
        made_.push_back(steps_[k]);
        done_[k] = true;
      }
    }
  }

  bool is_used_outside(Slot slot) const {
    return is_output_[slot] ||
           std::ranges::any_of(users_[slot], [&](std::size_t user) { return !is_member(user); });
  }

  // Truths do not leave a chain: where one is used elsewhere, it and what was made of it are no part of it.
  void drop_escaping_truths() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t k = 0; k < group_.size(); ++k) {
        if (!ops::is_truth(steps_[group_[k]].op) || !is_used_outside(result_of(group_[k])))
          continue;
        drop(group_[k]);
        changed = true;
        break;
      }
    }
    inputs_.clear();
    for (const std::size_t each : group_) add_inputs(each, inputs_);
  }

  void drop(std::size_t i) {
    std::erase(group_, i);
    for (const std::size_t user : std::vector<std::size_t>(users_[result_of(i)])) {
      if (is_member(user)) drop(user);
    }
  }

  // Of the results' shape: a chain has it from there.
  bool has_whole_input() const {
    return std::ranges::any_of(
        inputs_, [&](Slot slot) { return like(slot).shape == like(result_of(group_[0])).shape; });
  }

  // A Concat along the last axis, of results of this chain that nobody else uses; kNoStep: there is none.
  std::size_t find_joined() const {
    for (const std::size_t each : group_) {
      const auto& users = users_[result_of(each)];
      if (users.size() == 1 && !is_member(users[0]) && is_concat_of_members(users[0]))
        return users[0];
    }
    return kNoStep;
  }

  bool is_concat_of_members(std::size_t i) const {
    if (steps_[i].op != op_id("Concat")) return false;
    const Shape& shape = like(result_of(group_[0])).shape;
    const double axis = plan_.attributes_in(steps_[i].attributes)[0];
    if (axis != static_cast<double>(shape.rank()) - 1 || shape.rank() == 0) return false;
    return std::ranges::all_of(inputs_of(i), [&](Slot slot) {
      return is_made_here(slot) && users_[slot].size() == 1 && !is_output_[slot];
    });
  }

  // What the last word of a step's code says of its result.
  double fate_of(Slot slot) const {
    if (!is_used_outside(slot)) return 0;
    if (joined_ == kNoStep) return 1;
    const auto parts = inputs_of(joined_);
    const auto part = std::ranges::find(parts, slot);
    return part == parts.end() ? 1 : 2 + static_cast<double>(part - parts.begin());
  }

  double place_of(Slot slot) const {
    if (slot == kNoSlot) return -1;
    const auto input = std::ranges::find(inputs_, slot);
    if (input != inputs_.end()) return static_cast<double>(input - inputs_.begin());
    const auto made = std::ranges::find(group_, maker_[slot]);
    return static_cast<double>(inputs_.size()) + static_cast<double>(made - group_.begin());
  }

  Step fused() {
    joined_ = find_joined();
    ChainCode code(group_.size());
    std::vector<Slot> outside;
    for (const std::size_t each : group_) {
      const double fate = fate_of(result_of(each));
      if (fate == 1) outside.push_back(result_of(each));
      code.add(
          plan_, steps_[each], [this](Slot slot) { return place_of(slot); }, fate);
    }
    if (joined_ != kNoStep) outside.push_back(result_of(joined_));
    return code.step(plan_, inputs_, outside);
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  const std::size_t ahead_;         // how many steps beyond the first may be in a chain
  std::vector<std::size_t> maker_;  // by slot
  std::vector<std::vector<std::size_t>> users_;  // by slot
  std::vector<bool> is_output_;                  // by slot
  std::vector<bool> done_;                       // by step
  std::vector<Step> made_;
  std::vector<std::size_t> group_;  // steps of the chain that is being made, in order
  std::vector<Slot> inputs_;        // of it
  std::size_t joined_ = kNoStep;    // a Concat that is part of it
};

// Of norms that were split nothing is left outside of chains, or they stay whole.
std::vector<Step> chains_of(Plan& plan, const std::vector<Step>& steps, std::size_t ahead) {
  const Slot first = static_cast<Slot>(plan.likeness.size());
  const std::vector<Step> split = split_norms(plan, steps);
  std::vector<Step> made = DeviceChainMaker(plan, split, ahead).make();
  const bool apart = std::ranges::any_of(made, [&](const Step& step) {
    const auto inputs = plan.slots_in(step.inputs);
    return step.op == ops::kNormFactors ||
           (step.op != ops::kChain && std::ranges::any_of(inputs, [&](Slot slot) {
              return slot != kNoSlot && slot >= first;
            }));
  });
  return apart ? DeviceChainMaker(plan, steps, ahead).make() : made;
}

}  // namespace

bool make_device_chains(Plan& plan, std::vector<Step>& steps) {
  const std::uint64_t most = held_by(plan, plan.steps).most;
  for (const std::size_t ahead : {kLookAhead, kLookAhead / 8}) {
    std::vector<Step> made = chains_of(plan, steps, ahead);
    if (held_by(plan, made).most > most) continue;
    steps = std::move(made);
    return true;
  }
  return false;
}

}  // namespace ebb::programs
