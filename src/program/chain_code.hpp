// The one step that a chain becomes (ops/chain.hpp), whichever device it is for.
#pragma once

#include <vector>

#include "ops/chain.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

class ChainCode {
 public:
  explicit ChainCode(std::size_t steps) : words_{static_cast<double>(steps * ops::kChainWords)} {}

  // place_of(slot) is where an operand is; `fate` says what becomes of the result.
  template <typename PlaceOf>
  void add(const Plan& plan, const Step& step, PlaceOf place_of, double fate) {
    const auto operands = plan.slots_in(step.inputs);
    const auto attributes = plan.attributes_in(step.attributes);
    const double third = operands.size() > 2 ? place_of(operands[2]) : 0;
    words_.insert(words_.end(), {static_cast<double>(step.op), place_of(operands[0]),
                                 operands.size() > 1 ? place_of(operands[1]) : -1,
                                 attributes.size() > 0 ? attributes[0] : third,
                                 attributes.size() > 1 ? attributes[1] : 0, fate});
  }

  Step step(Plan& plan, const std::vector<Slot>& inputs, const std::vector<Slot>& results) const {
    return {.op = ops::kChain,
            .attributes = append<double>(plan.attributes, words_),
            .inputs = append<Slot>(plan.slots, inputs),
            .results = append<Slot>(plan.slots, results),
            .ended = {}};
  }

 private:
  std::vector<double> words_;
};

}  // namespace ebb::programs
