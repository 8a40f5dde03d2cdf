// Steps that multiply and convolve, as those read them who make others of them.
#pragma once

#include "ebb/ops/words.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

constexpr bool is_convolution(ops::OpId op) noexcept {
  return op == ops::op_id("Conv2D") || op == ops::op_id("FusedConv2D");
}
constexpr bool is_depthwise(ops::OpId op) noexcept {
  return op == ops::op_id("DepthwiseConv2dNative") || op == ops::op_id("FusedDepthwiseConv2D");
}
constexpr bool is_product(ops::OpId op) noexcept {
  return op == ops::op_id("BatchMatMul") || op == ops::op_id("_FusedMatMul");
}
// Has a bias and an activation as well: its last two attributes are that and its slope.
constexpr bool is_fused(ops::OpId op) noexcept {
  return op == ops::op_id("FusedConv2D") || op == ops::op_id("FusedDepthwiseConv2D") ||
         op == ops::op_id("_FusedMatMul");
}

class StepReader {
 protected:
  explicit StepReader(Plan& plan) noexcept : plan_(plan) {}

  const Shape& shape_of(Slot slot) const { return plan_.likeness[slot].shape; }
  std::span<const double> attributes_of(const Step& step) const {
    return plan_.attributes_in(step.attributes);
  }
  // kNoSlot: it was left out.
  Slot input_of(const Step& step, std::size_t i) const {
    const auto inputs = plan_.slots_in(step.inputs);
    return i < inputs.size() ? inputs[i] : kNoSlot;
  }
  Slot result_of(const Step& step) const { return plan_.slots_in(step.results)[0]; }
  // channelsFirst is the last attribute of a convolution that is not fused.
  bool is_channels_first(const Step& step) const {
    const auto attributes = attributes_of(step);
    return !is_product(step.op) && attributes[attributes.size() - (is_fused(step.op) ? 3 : 1)] != 0;
  }
  ops::Activation activation_of(const Step& step) const {
    const auto attributes = attributes_of(step);
    return is_fused(step.op) ? static_cast<ops::Activation>(attributes[attributes.size() - 2])
                             : ops::Activation::kLinear;
  }

  Plan& plan_;
};

}  // namespace ebb::programs
