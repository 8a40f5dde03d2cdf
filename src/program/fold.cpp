// Weights that stay the same: batch normalisation goes into them, and products take them packed.
#include <algorithm>
#include <array>

#include "ops/chain.hpp"
#include "ops/packed.hpp"
#include "program/fuse.hpp"
#include "program/step_reader.hpp"

namespace ebb::programs {
namespace {

using ops::op_id;

constexpr std::size_t kNoStep = ~std::size_t{0};
// Fewer rows are multiplied by a matrix as it lies.
constexpr std::int64_t kLeastRows = 4;

ops::OpId fused_of(ops::OpId op) {
  if (is_convolution(op)) return op_id("FusedConv2D");
  return is_depthwise(op) ? op_id("FusedDepthwiseConv2D") : op_id("_FusedMatMul");
}

// What both have in common: new steps before one of those that were there.
class Rewriter : protected StepReader {
 protected:
  Rewriter(Plan& plan, std::vector<Step>& steps)
      : StepReader(plan), steps_(steps), fixed_(fixed_slots(plan, steps)) {}

  bool is_fixed(Slot slot) const { return slot < fixed_.size() && fixed_[slot]; }
  bool is_linear(const Step& step) const { return activation_of(step) == ops::Activation::kLinear; }

  Slot made(ops::OpId op, const std::vector<Slot>& inputs, const Shape& shape,
            const std::vector<double>& attributes = {}) {
    const Slot slot = static_cast<Slot>(plan_.likeness.size());
    plan_.likeness.push_back({DType::kFloat32, shape});
    made_.push_back({.op = op,
                     .attributes = append<double>(plan_.attributes, attributes),
                     .inputs = append<Slot>(plan_.slots, inputs),
                     .results = append<Slot>(plan_.slots, std::array{slot}),
                     .ended = {}});
    return slot;
  }

  std::vector<Step>& steps_;
  const std::vector<bool> fixed_;
  std::vector<Step> made_;
};

class NormFolder : Rewriter {
 public:
  NormFolder(Plan& plan, std::vector<Step>& steps)
      : Rewriter(plan, steps), maker_(plan.likeness.size(), kNoStep), uses_(plan.likeness.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Slot slot : plan.slots_in(steps[i].inputs)) {
        if (slot != kNoSlot) ++uses_[slot];
      }
      for (const Slot slot : plan.slots_in(steps[i].results)) maker_[slot] = i;
    }
    for (const Slot slot : plan.outputs) ++uses_[slot];
  }

  // The one step is where the normalisation was: there its numbers are known.
  void fold() {
    std::vector<std::size_t> before(steps_.size());
    std::vector<bool> gone(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      before[i] = goes_into(i);
      if (before[i] != kNoStep) gone[before[i]] = true;
    }
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (gone[i]) continue;
      const Step step = before[i] == kNoStep ? steps_[i] : folded(steps_[before[i]], steps_[i]);
      made_.push_back(step);
    }
    steps_ = std::move(made_);
  }

 private:
  // The step that the normalisation at `i` can go into.
  std::size_t goes_into(std::size_t i) const {
    const Step& norm = steps_[i];
    if (norm.op != op_id("FusedBatchNorm")) return kNoStep;
    const Slot x = input_of(norm, 0);
    const std::size_t at = maker_[x];
    if (at == kNoStep || uses_[x] != 1 || !takes_factors(steps_[at])) return kNoStep;
    for (std::size_t k = 1; k < norm.inputs.count; ++k) {
      const Slot each = input_of(norm, k);
      if (each != kNoSlot && !is_per_channel(each, shape_of(x).dims().back())) return kNoStep;
    }
    return at;
  }

  bool takes_factors(const Step& step) const {
    if (!is_convolution(step.op) && !is_depthwise(step.op) && !is_product(step.op)) return false;
    const Slot weights = input_of(step, 1), bias = input_of(step, 2);
    if (!is_fixed(weights) || plan_.likeness[weights].dtype != DType::kFloat32) return false;
    if (is_channels_first(step) || !is_linear(step) || input_of(step, 3) != kNoSlot) return false;
    const std::int64_t channels = shape_of(result_of(step)).dims().back();
    if (bias != kNoSlot && !(is_fixed(bias) && shape_of(bias) == Shape{channels})) return false;
    if (is_depthwise(step.op)) return shape_of(weights).dims().back() == 1;
    return is_convolution(step.op) || attributes_of(step)[1] == 0;  // transposeB
  }

  bool is_per_channel(Slot slot, std::int64_t channels) const {
    return is_fixed(slot) && plan_.likeness[slot].dtype == DType::kFloat32 &&
           shape_of(slot) == Shape{channels};
  }

  // (x w + b - mean) f + offset = x (w f) + (b - mean) f + offset
  Step folded(Step step, const Step& norm) {
    const Slot weights = input_of(step, 1), bias = input_of(step, 2);
    const Slot mean = input_of(norm, 1), offset = input_of(norm, 3);
    const Shape channels = shape_of(mean);
    const auto epsilon = attributes_of(norm);
    const Slot factors = made(ops::kNormFactors, {input_of(norm, 2), input_of(norm, 4)}, channels,
                              {epsilon.begin(), epsilon.end()});
    const Slot scaled =
        made(op_id("Multiply"), {weights, along_weights(factors, step)}, Shape(shape_of(weights)));
    const Slot centre = bias == kNoSlot ? made(op_id("Neg"), {mean}, channels)
                                        : made(op_id("Sub"), {bias, mean}, channels);
    Slot shift = made(op_id("Multiply"), {centre, factors}, channels);
    if (offset != kNoSlot) shift = made(op_id("Add"), {shift, offset}, channels);
    const auto given = attributes_of(step);
    std::vector<double> attributes(given.begin(), given.end());
    if (!is_fused(step.op)) {
      attributes.insert(attributes.end(), {static_cast<double>(ops::Activation::kLinear), 0.2});
    }
    return {.op = fused_of(step.op),
            .attributes = append<double>(plan_.attributes, attributes),
            .inputs = append<Slot>(plan_.slots, std::array{input_of(step, 0), scaled, shift}),
            .results = norm.results,
            .ended = {}};
  }

  // Filters have the channels of the result last; depthwise ones before a last axis of one.
  Slot along_weights(Slot factors, const Step& step) {
    if (!is_depthwise(step.op)) return factors;
    const std::int64_t count = shape_of(factors).dims()[0];
    return made(op_id("Reshape"), {factors}, Shape{count, 1}, {2, static_cast<double>(count), 1});
  }

  std::vector<std::size_t> maker_;  // by slot
  std::vector<int> uses_;
};

class Packer : Rewriter {
 public:
  Packer(Plan& plan, std::vector<Step>& steps) : Rewriter(plan, steps) {}

  void pack() {
    for (const Step& step : steps_) {
      const Step now = takes_panels(step) ? packed(step) : step;
      made_.push_back(now);
    }
    steps_ = std::move(made_);
  }

 private:
  bool takes_panels(const Step& step) const {
    if (!is_convolution(step.op) && !is_product(step.op)) return false;
    const Slot x = input_of(step, 0), weights = input_of(step, 1);
    const Slot result = result_of(step);
    if (!is_fixed(weights) || plan_.likeness[weights].dtype != DType::kFloat32) return false;
    if (plan_.likeness[x].dtype != DType::kFloat32 || input_of(step, 3) != kNoSlot) return false;
    const Shape& shape = shape_of(weights);
    const auto outer = shape.dims().first(shape.rank() - 2);
    if (shape.empty() || shape_of(x).empty() || shape.rank() > shape_of(x).rank() ||
        std::ranges::any_of(outer, [](std::int64_t dim) { return dim != 1; })) {
      return false;
    }
    const std::int64_t columns = shape_of(result).dims().back();
    if (static_cast<std::int64_t>(shape_of(result).elements()) / columns < kLeastRows) return false;
    return is_product(step.op) ? attributes_of(step)[0] == 0 : is_pointwise(step);
  }

  // strides, pads, dilations
  bool is_pointwise(const Step& step) const {
    constexpr std::array<double, 8> kPlain{2, 1, 1, 4, 0, 0, 0, 0};
    return !is_channels_first(step) &&
           std::ranges::equal(attributes_of(step).first(kPlain.size()), kPlain) &&
           std::ranges::equal(shape_of(input_of(step, 0)).dims().first(3),
                              shape_of(result_of(step)).dims().first(3));
  }

  Step packed(const Step& step) {
    const auto attributes = attributes_of(step);
    const double transposed = is_product(step.op) ? attributes[1] : 0;
    const std::int64_t columns = shape_of(result_of(step)).dims().back();
    const std::int64_t inner = shape_of(input_of(step, 0)).dims().back();
    std::vector<double> now{static_cast<double>(columns),
                            static_cast<double>(ops::Activation::kLinear), 0};
    if (is_fused(step.op)) std::ranges::copy(attributes.last(2), now.begin() + 1);
    const Shape panels{ops::panels_of(columns), inner, ops::kPanelColumns};
    const std::array inputs{input_of(step, 0), panels_for(input_of(step, 1), transposed, panels),
                            input_of(step, 2)};
    return {.op = ops::kPackedProduct,
            .attributes = append<double>(plan_.attributes, now),
            .inputs = append<Slot>(plan_.slots, inputs),
            .results = step.results,
            .ended = {}};
  }

  // The same for all products by a matrix.
  Slot panels_for(Slot matrix, double transposed, const Shape& shape) {
    for (const Panels& each : panels_) {
      if (each.matrix == matrix && each.transposed == transposed) return each.slot;
    }
    const Slot slot = made(ops::kPackedMatrix, {matrix}, shape, {transposed});
    panels_.push_back({matrix, transposed, slot});
    return slot;
  }

  struct Panels {
    Slot matrix;
    double transposed;
    Slot slot;
  };
  std::vector<Panels> panels_;
};

}  // namespace

void fold_norms(Plan& plan, std::vector<Step>& steps) { NormFolder(plan, steps).fold(); }
void pack_matrices(Plan& plan, std::vector<Step>& steps) { Packer(plan, steps).pack(); }

}  // namespace ebb::programs
