#include "program/fuse.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/chain.hpp"
#include "ops/kernels.hpp"
#include "ops/packed.hpp"
#include "ops/recorder.hpp"
#include "program/chain_code.hpp"
#include "program/device_fuse.hpp"

namespace ebb::programs {
namespace {

// ---- transposes

bool swaps_last_two(std::span<const double> attributes) {
  const std::size_t rank = attributes.size() - 1;  // a list is its length and its values
  if (rank < 2) return false;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = i + 2 == rank ? rank - 1 : i + 1 == rank ? rank - 2 : i;
    if (attributes[i + 1] != static_cast<double>(from)) return false;
  }
  return true;
}

bool is_product(const Step& step) {
  return step.op == ops::op_id("BatchMatMul") || step.op == ops::op_id("_FusedMatMul");
}

// By slot: whether products alone use it, as a factor. What others use may have been made dense by
// them, and a product of that adds up in another order.
std::vector<bool> factors_only(const Plan& plan, const std::vector<Step>& steps) {
  std::vector<bool> only(plan.likeness.size(), true);
  for (const Slot slot : plan.outputs) only[slot] = false;
  for (const Step& step : steps) {
    const auto inputs = plan.slots_in(step.inputs);
    for (std::size_t i = is_product(step) ? 2 : 0; i < inputs.size(); ++i) {
      if (inputs[i] != kNoSlot) only[inputs[i]] = false;
    }
  }
  return only;
}

// A product takes the matrix as it was before it was transposed, its flag the other way round.
void absorb_transposes(Plan& plan, std::vector<Step>& steps) {
  const std::vector<bool> only = factors_only(plan, steps);
  std::vector<Slot> before(plan.likeness.size(), kNoSlot);  // by a transposed one
  for (Step& step : steps) {
    if (step.op == ops::op_id("Transpose") && swaps_last_two(plan.attributes_in(step.attributes))) {
      const Slot result = plan.slots_in(step.results)[0];
      if (only[result]) before[result] = plan.slots_in(step.inputs)[0];
    }
    if (!is_product(step)) continue;
    std::vector<Slot> inputs(plan.slots_in(step.inputs).begin(), plan.slots_in(step.inputs).end());
    std::vector<double> flags(plan.attributes_in(step.attributes).begin(),
                              plan.attributes_in(step.attributes).end());
    bool changed = false;
    for (std::size_t i = 0; i < 2; ++i) {
      if (before[inputs[i]] == kNoSlot) continue;
      inputs[i] = before[inputs[i]];
      flags[i] = flags[i] == 0 ? 1 : 0;  // transposeA and transposeB are the first two
      changed = true;
    }
    if (!changed) continue;
    step.inputs = append<Slot>(plan.slots, inputs);
    step.attributes = append<double>(plan.attributes, flags);
  }
}

// ---- chains

// Elementwise steps that follow one another and have results of one shape.
class ChainMaker {
 public:
  // `most`: what a run may hold.
  ChainMaker(Plan& plan, const std::vector<Step>& steps, std::uint64_t most)
      : plan_(plan),
        steps_(steps),
        last_(last_uses(plan, steps)),
        before_(held_by(plan, steps).before),
        most_(most) {}

  std::vector<Step> make() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!joins(i)) {
        close();
        if (!joins(i)) {  // not even as the first
          made_.push_back(steps_[i]);
          begin_ = i + 1;
          continue;
        }
      }
      take(i);
    }
    close();
    return std::move(made_);
  }

 private:
  const Shape& shape_of(Slot slot) const { return plan_.likeness[slot].shape; }

  bool is_made_here(Slot slot) const { return std::ranges::find(results_, slot) != results_.end(); }

  std::vector<Slot> new_inputs(std::size_t i) const {
    std::vector<Slot> found;
    for (const Slot slot : plan_.slots_in(steps_[i].inputs)) {
      if (!is_made_here(slot) && std::ranges::find(inputs_, slot) == inputs_.end() &&
          std::ranges::find(found, slot) == found.end()) {
        found.push_back(slot);
      }
    }
    return found;
  }

  bool joins(std::size_t i) const {
    const Step& step = steps_[i];
    const int operands = ops::chain_operands(step.op);
    if (operands == 0 || static_cast<int>(step.inputs.count) != operands) return false;
    const Slot result = plan_.slots_in(step.results)[0];
    const Shape& shape = shape_of(result);
    if (shape.empty() || plan_.likeness[result].dtype != DType::kFloat32) return false;
    for (const Slot slot : plan_.slots_in(step.inputs)) {
      if (slot == kNoSlot || plan_.likeness[slot].dtype != DType::kFloat32) return false;
      if (!ops::fits_chain(shape_of(slot), shape)) return false;
    }
    if (results_.empty()) return has_whole_input(i, shape);
    return shape == shape_of(results_[0]) && results_.size() < ops::kMostChainSteps &&
           inputs_.size() + new_inputs(i).size() <= ops::kMostChainInputs;
  }

  bool has_whole_input(std::size_t i, const Shape& shape) const {
    return std::ranges::any_of(plan_.slots_in(steps_[i].inputs),
                               [&](Slot slot) { return shape_of(slot) == shape; });
  }

  void take(std::size_t i) {
    for (const Slot slot : new_inputs(i)) inputs_.push_back(slot);
    results_.push_back(plan_.slots_in(steps_[i].results)[0]);
  }

  std::size_t end() const { return begin_ + results_.size(); }
  bool ends_within(Slot slot) const { return last_[slot] != kForEver && last_[slot] < end(); }

  // Whether one step with all its operands and results holds no more than the program does somewhere.
  bool holds_no_more() const {
    std::uint64_t here = before_[begin_];
    for (const Slot slot : results_) {
      if (!ends_within(slot)) here = checked_add(here, bytes_in(plan_, slot));
    }
    return here <= most_;
  }

  void close() {
    if (results_.size() >= 2 && holds_no_more()) {
      made_.push_back(fused());
    } else {
      for (std::size_t k = 0; k < results_.size(); ++k) made_.push_back(steps_[begin_ + k]);
    }
    begin_ = end();
    inputs_.clear();
    results_.clear();
  }

  double place_of(Slot slot) const {
    const auto input = std::ranges::find(inputs_, slot);
    if (input != inputs_.end()) return static_cast<double>(input - inputs_.begin());
    const auto result = std::ranges::find(results_, slot);
    return static_cast<double>(inputs_.size()) + static_cast<double>(result - results_.begin());
  }

  Step fused() {
    ChainCode code(results_.size());
    std::vector<Slot> outside;
    for (std::size_t k = 0; k < results_.size(); ++k) {
      const bool is_result = !ends_within(results_[k]);
      if (is_result) outside.push_back(results_[k]);
      code.add(
          plan_, steps_[begin_ + k], [this](Slot slot) { return place_of(slot); },
          is_result ? 1.0 : 0.0);
    }
    return code.step(plan_, inputs_, outside);
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  const std::vector<std::size_t> last_;
  const std::vector<std::uint64_t> before_;
  const std::uint64_t most_;
  std::vector<Step> made_;
  std::size_t begin_ = 0;  // of the steps that are being joined
  std::vector<Slot> inputs_, results_;
};

// Of norms that were split nothing is left outside of chains, or they stay whole.
std::vector<Step> with_chains(Plan& plan, const std::vector<Step>& steps) {
  const std::uint64_t most = held_by(plan, steps).most;
  const Slot first = static_cast<Slot>(plan.likeness.size());
  // Those of a device that works on its own are for its own chains.
  const std::vector<Step> split = plan.queued ? steps : split_norms(plan, steps);
  std::vector<Step> made = ChainMaker(plan, split, most).make();
  const bool apart = std::ranges::any_of(made, [&](const Step& step) {
    const auto inputs = plan.slots_in(step.inputs);
    return step.op != ops::kChain &&
           std::ranges::any_of(inputs, [&](Slot slot) { return slot != kNoSlot && slot >= first; });
  });
  return apart ? ChainMaker(plan, steps, most).make() : made;
}

}  // namespace

void mark_ends(const Plan& plan, std::vector<bool>& needed) {
  std::vector<bool> used = needed;
  for (const Step& step : plan.steps) {
    for (const Slot slot : plan.slots_in(step.inputs)) {
      if (slot != kNoSlot) used[slot] = true;
    }
  }
  for (const Step& step : plan.steps) {
    const auto results = plan.slots_in(step.results);
    if (std::ranges::any_of(results, [&](Slot slot) { return used[slot]; })) continue;
    for (const Slot slot : results) needed[slot] = true;
  }
}

void drop_unused(const Plan& plan, std::vector<Step>& steps) {
  std::vector<bool> needed(plan.likeness.size());
  for (const Slot slot : plan.outputs) needed[slot] = true;
  mark_ends(plan, needed);
  std::vector<Step> kept;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const auto results = plan.slots_in(step->results);
    if (std::ranges::none_of(results, [&](Slot slot) { return needed[slot]; })) continue;
    for (const Slot slot : plan.slots_in(step->inputs)) {
      if (slot != kNoSlot) needed[slot] = true;
    }
    kept.push_back(*step);
  }
  std::ranges::reverse(kept);
  steps = std::move(kept);
}

bool can_fuse(const Plan& plan, const Device& device) noexcept {
  const ops::KernelTable* kernels = ops::kernels_for(device);
  return plan.queued == (device.link() != nullptr) && ops::recorder == nullptr &&
         kernels != nullptr && (*kernels)[ops::kChain] != nullptr;
}

bool can_keep(const Plan& plan, const Device& device) noexcept {
  return can_fuse(plan, device) && (*ops::kernels_for(device))[ops::kPackedProduct] != nullptr;
}

namespace {

void make_rest(Plan& plan, std::vector<Step> steps, const ProgramOptions& options) {
  if (options.join) {
    join_epilogues(plan, steps);  // biases, which norms may come after
    fold_norms(plan, steps);
    join_epilogues(plan, steps);
    pack_matrices(plan, steps);
  }
  steps = keep_apart(plan, steps);
  if (plan.kept.empty()) return;
  if (options.join) join_separable(plan, steps);
  if (options.fuse) steps = with_chains(plan, steps);
  if (plan.overwrite) sink_update(plan, steps);
  end_slots(plan, steps);
  if (plan.overwrite && !steps.empty()) plan.over_in_rest = overwritten(plan, steps.back());
  plan.rest = std::move(steps);
}

}  // namespace

void fuse(Plan& plan, const ProgramOptions& options) {
  std::vector<Step> steps = plan.steps;
  if (options.absorb && plan.queued) drop_same_shapes(plan, steps);
  // There a product of a matrix that was transposed and one that takes it as it was need not add up alike.
  if (options.absorb && (options.join || !plan.queued)) {
    absorb_transposes(plan, steps);
    drop_unused(plan, steps);
  }
  if (options.join) {
    merge_sums(plan, steps);
    if (plan.queued) merge_products(plan, steps);
    if (plan.queued) join_row_norms(plan, steps);
  }
  const std::vector<Step> before = steps;
  if (options.join) join_epilogues(plan, steps);
  if (options.fuse && plan.queued) cut_early(plan, steps);
  if (options.fuse && !(plan.queued && make_device_chains(plan, steps))) {
    steps = with_chains(plan, steps);
  }
  const bool updates = plan.overwrite && sink_update(plan, steps);
  if (plan.queued || updates ||
      steps.size() != plan.steps.size()) {  // each of the others leaves fewer
    end_slots(plan, steps);
    if (updates) plan.over_in_fused = overwritten(plan, steps.back());
    plan.fused = std::move(steps);
  }
  if (options.keep && !plan.queued) make_rest(plan, before, options);
}

}  // namespace ebb::programs
