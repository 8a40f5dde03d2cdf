// Batch normalisation as elementwise steps, for chains.
#include <algorithm>
#include <array>

#include "ops/chain.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

class NormSplitter {
 public:
  NormSplitter(Plan& plan, const std::vector<Step>& steps) : plan_(plan), steps_(steps) {}

  std::vector<Step> split() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (suits(i)) {
        split(steps_[i]);
      } else {
        made_.push_back(steps_[i]);
      }
    }
    return std::move(made_);
  }

 private:
  const Likeness& like(Slot slot) const { return plan_.likeness[slot]; }

  // Of the last axis, and what comes next is elementwise too: a chain of it alone gains nothing.
  bool suits(std::size_t i) const {
    if (steps_[i].op != op_id("FusedBatchNorm") || i + 1 == steps_.size()) return false;
    const auto inputs = plan_.slots_in(steps_[i].inputs);
    const Shape& x = like(inputs[0]).shape;
    if (x.rank() < 2 || x.empty()) return false;
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      if (inputs[k] == kNoSlot) continue;
      if (like(inputs[k]).shape != Shape{x.dims().back()}) return false;
    }
    const Step& next = steps_[i + 1];
    const auto operands = plan_.slots_in(next.inputs);
    return ops::chain_operands(next.op) > 0 &&
           std::ranges::find(operands, plan_.slots_in(steps_[i].results)[0]) != operands.end() &&
           like(plan_.slots_in(next.results)[0]).shape == x;
  }

  void split(const Step& step) {
    const auto given = plan_.slots_in(step.inputs);
    const std::vector<Slot> inputs(given.begin(), given.end());
    const Slot result = plan_.slots_in(step.results)[0];
    const Slot scale = inputs.size() > 4 ? inputs[4] : kNoSlot;
    const Slot offset = inputs.size() > 3 ? inputs[3] : kNoSlot;
    const Shape shape = like(result).shape;
    const auto add_factors = [&](const Shape& own) {
      const Slot slot = made(ops::kNormFactors, {inputs[2], scale}, own);
      made_.back().attributes = step.attributes;
      return slot;
    };
    Slot factors = kNoSlot;
    if (!plan_.queued) factors = add_factors(like(inputs[2]).shape);
    const Slot centred = made(op_id("Sub"), {inputs[0], inputs[1]}, shape);
    if (plan_.queued) factors = add_factors(shape);  // they are part of the chain
    const Slot scaled = made(op_id("Multiply"), {centred, factors}, like(result).shape);
    if (offset != kNoSlot) made(op_id("Add"), {scaled, offset}, like(result).shape);
    made_.back().results = append<Slot>(plan_.slots, std::array{result});
  }

  Slot made(ops::OpId op, const std::vector<Slot>& inputs, const Shape& shape) {
    const Slot slot = static_cast<Slot>(plan_.likeness.size());
    plan_.likeness.push_back({DType::kFloat32, shape});
    made_.push_back({.op = op,
                     .attributes = {},
                     .inputs = append<Slot>(plan_.slots, inputs),
                     .results = append<Slot>(plan_.slots, std::array{slot}),
                     .ended = {}});
    return slot;
  }

  Plan& plan_;
  const std::vector<Step>& steps_;
  std::vector<Step> made_;
};

}  // namespace

std::vector<Step> split_norms(Plan& plan, const std::vector<Step>& steps) {
  return NormSplitter(plan, steps).split();
}

}  // namespace ebb::programs
