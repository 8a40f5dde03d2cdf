// Products and convolutions that take the bias and the activation which follow them.
#include <algorithm>
#include <array>
#include <optional>

#include "ebb/ops/words.hpp"
#include "ops/params/program_ops.hpp"
#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

using ops::Activation;
using ops::op_id;

// An operation and the one that also adds a bias and activates: its attributes have two more.
// `normed`, where there is one, normalises in place of the bias (ops/normed.hpp).
struct Pair {
  ops::OpId bare, fused, normed;
};
constexpr std::array kPairs{
    Pair{op_id("BatchMatMul"), op_id("_FusedMatMul"), 0},
    Pair{op_id("Conv2D"), op_id("FusedConv2D"), ops::kNormedConvolution},
    Pair{op_id("DepthwiseConv2dNative"), op_id("FusedDepthwiseConv2D"), ops::kNormedDepthwise}};

struct ActivationOp {
  ops::OpId op;
  Activation activation;
};
constexpr std::array kActivations{ActivationOp{op_id("Relu"), Activation::kRelu},
                                  ActivationOp{op_id("Relu6"), Activation::kRelu6},
                                  ActivationOp{op_id("Elu"), Activation::kElu},
                                  ActivationOp{op_id("LeakyRelu"), Activation::kLeakyrelu},
                                  ActivationOp{op_id("Sigmoid"), Activation::kSigmoid}};

constexpr std::size_t kNoStep = ~std::size_t{0};

// What a product or convolution becomes.
struct Joined {
  std::vector<Slot> inputs;
  std::vector<double> attributes;  // the last two: activation, and its slope
  Slot result = kNoSlot;

  double& activation() { return attributes[attributes.size() - 2]; }
  bool is_linear() { return activation() == static_cast<double>(Activation::kLinear); }
};

class Joiner {
 public:
  Joiner(Plan& plan, std::vector<Step>& steps)
      : plan_(plan),
        steps_(steps),
        user_(plan.likeness.size(), kNoStep),
        uses_(plan.likeness.size()),
        maker_(plan.likeness.size(), kNoStep) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (const Slot slot : plan.slots_in(steps[i].inputs)) {
        if (slot == kNoSlot) continue;
        user_[slot] = i;
        ++uses_[slot];
      }
      for (const Slot slot : plan.slots_in(steps[i].results)) maker_[slot] = i;
    }
    for (const Slot slot : plan.outputs) uses_[slot] += 2;  // it must stay
  }

  void join() {
    std::vector<bool> gone(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!gone[i]) join_at(i, gone);
    }
    std::vector<Step> kept;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!gone[i]) kept.push_back(steps_[i]);
    }
    steps_ = std::move(kept);
  }

 private:
  std::span<const Slot> inputs_of(const Step& step) const { return plan_.slots_in(step.inputs); }
  const Likeness& like(Slot slot) const { return plan_.likeness[slot]; }

  void join_at(std::size_t i, std::vector<bool>& gone) {
    Step& step = steps_[i];
    const auto pair = std::ranges::find_if(
        kPairs, [&](const Pair& each) { return each.bare == step.op || each.fused == step.op; });
    if (pair == kPairs.end()) return;
    Joined joined = as_fused(step, *pair);
    if (like(joined.result).dtype != DType::kFloat32 || is_channels_first(step, *pair)) return;
    const Slot before = joined.result;
    const std::optional<double> epsilon = take_norm(i, *pair, joined);
    if (epsilon || take_bias(i, joined)) gone[user_[before]] = true;
    const Slot biased = joined.result;
    if (take_activation(joined)) {
      gone[user_[biased]] = true;
      const Slot activated = joined.result;
      if (take_limit(joined)) gone[user_[activated]] = true;
    }
    if (joined.result == before) return;
    if (epsilon) joined.attributes.push_back(*epsilon);
    step.op = epsilon ? pair->normed : pair->fused;
    step.inputs = append<Slot>(plan_.slots, joined.inputs);
    step.attributes = append<double>(plan_.attributes, joined.attributes);
    step.results = append<Slot>(plan_.slots, std::array{joined.result});
  }

  Joined as_fused(const Step& step, const Pair& pair) const {
    const auto inputs = inputs_of(step);
    const auto attributes = plan_.attributes_in(step.attributes);
    Joined made{.inputs = {inputs.begin(), inputs.end()},
                .attributes = {attributes.begin(), attributes.end()},
                .result = plan_.slots_in(step.results)[0]};
    if (step.op == pair.bare) {
      made.attributes.insert(made.attributes.end(),
                             {static_cast<double>(Activation::kLinear), 0.2});
    }
    if (made.inputs.size() < 3) made.inputs.push_back(kNoSlot);
    return made;
  }

  // A bias is along the last axis here.
  bool is_channels_first(const Step& step, const Pair& pair) const {
    const auto attributes = plan_.attributes_in(step.attributes);
    if (pair.bare == op_id("BatchMatMul")) return false;
    return attributes[attributes.size() - (step.op == pair.bare ? 1 : 3)] != 0;
  }

  // The one step that uses the result so far, and makes something of the same shape.
  std::size_t only_user(Slot slot) const {
    if (uses_[slot] != 1) return kNoStep;
    const Step& user = steps_[user_[slot]];
    const auto results = plan_.slots_in(user.results);
    const bool alike = results.size() == 1 && like(results[0]).shape == like(slot).shape &&
                       like(results[0]).dtype == DType::kFloat32;
    return alike ? user_[slot] : kNoStep;
  }

  bool is_before(Slot slot, std::size_t at) const {
    return maker_[slot] == kNoStep || maker_[slot] < at;
  }

  // A batch normalisation by a number for each channel, on a device whose kernels do that while they write. Its epsilon.
  std::optional<double> take_norm(std::size_t at, const Pair& pair, Joined& joined) {
    if (!plan_.queued || pair.normed == 0 || !joined.is_linear()) return std::nullopt;
    constexpr std::size_t kOwn = 2;  // inputs: what else there may be is a bias and its like
    if (std::ranges::any_of(joined.inputs.begin() + kOwn, joined.inputs.end(),
                            [](Slot slot) { return slot != kNoSlot; })) {
      return std::nullopt;
    }
    const std::size_t user = only_user(joined.result);
    if (user == kNoStep || steps_[user].op != op_id("FusedBatchNorm")) return std::nullopt;
    const auto operands = inputs_of(steps_[user]);
    constexpr std::size_t kAll = 5;
    if (operands.size() != kAll || operands[0] != joined.result) return std::nullopt;
    const Shape channels{like(joined.result).shape.dims().back()};
    for (const Slot each : operands.subspan(1)) {
      if (each == kNoSlot || like(each).shape != channels || !is_before(each, at)) {
        return std::nullopt;
      }
    }
    joined.inputs.resize(kOwn);
    joined.inputs.insert(joined.inputs.end(), operands.begin() + 1, operands.end());
    joined.result = plan_.slots_in(steps_[user].results)[0];
    return plan_.attributes_in(steps_[user].attributes)[0];
  }

  // Of the result's own shape, which products take along there.
  bool is_addend(Slot slot, Slot result, std::size_t before, ops::OpId op) const {
    return plan_.queued && (op == op_id("BatchMatMul") || op == op_id("_FusedMatMul")) &&
           like(slot).dtype == DType::kFloat32 && like(slot).shape == like(result).shape &&
           slot != result && is_before(slot, before);
  }

  bool is_bias(Slot bias, Slot result, std::size_t before) const {
    const Shape& shape = like(bias).shape;
    const auto dims = shape.dims();
    return like(bias).dtype == DType::kFloat32 && !dims.empty() &&
           dims.size() <= like(result).shape.rank() &&
           dims.back() == like(result).shape.dims().back() &&
           std::ranges::all_of(dims.first(dims.size() - 1),
                               [](std::int64_t dim) { return dim == 1; }) &&
           is_before(bias, before);
  }

  bool take_bias(std::size_t at, Joined& joined) {
    if (joined.inputs[2] != kNoSlot || !joined.is_linear()) return false;
    const std::size_t user = only_user(joined.result);
    if (user == kNoStep || steps_[user].op != op_id("Add")) return false;
    const auto operands = inputs_of(steps_[user]);
    const Slot bias = operands[0] == joined.result ? operands[1] : operands[0];
    if (!is_bias(bias, joined.result, at) && !is_addend(bias, joined.result, at, steps_[at].op)) {
      return false;
    }
    joined.inputs[2] = bias;
    joined.result = plan_.slots_in(steps_[user].results)[0];
    return true;
  }

  bool take_activation(Joined& joined) {
    if (!joined.is_linear()) return false;
    const std::size_t user = only_user(joined.result);
    if (user == kNoStep) return false;
    const auto found = std::ranges::find(kActivations, steps_[user].op, &ActivationOp::op);
    if (found == kActivations.end()) return false;
    joined.activation() = static_cast<double>(found->activation);
    if (found->activation == Activation::kLeakyrelu) {
      joined.attributes.back() = plan_.attributes_in(steps_[user].attributes)[0];
    }
    joined.result = plan_.slots_in(steps_[user].results)[0];
    return true;
  }

  // relu, and then at most 6.
  bool take_limit(Joined& joined) {
    if (joined.activation() != static_cast<double>(Activation::kRelu)) return false;
    const std::size_t user = only_user(joined.result);
    if (user == kNoStep || steps_[user].op != op_id("ClipByValue")) return false;
    const auto limits = plan_.attributes_in(steps_[user].attributes);
    if (limits[0] != 0 || limits[1] != 6) return false;
    joined.activation() = static_cast<double>(Activation::kRelu6);
    joined.result = plan_.slots_in(steps_[user].results)[0];
    return true;
  }

  Plan& plan_;
  std::vector<Step>& steps_;
  std::vector<std::size_t> user_;  // by slot: the last step that uses it
  std::vector<int> uses_;
  std::vector<std::size_t> maker_;
};

}  // namespace

void join_epilogues(Plan& plan, std::vector<Step>& steps) { Joiner(plan, steps).join(); }

}  // namespace ebb::programs
