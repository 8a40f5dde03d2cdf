// Updates of optimizers, all variables of a model in one call.
#include "ops/params/optimizers.hpp"

#include <array>

#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/update.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

// What an error calls the inputs.
struct Names {
  std::array<std::string_view, 2> scalars{};
  std::array<std::string_view, kMostUpdateInputs> inputs;
};

// How many variables there are.
std::size_t check_variables(const OpCall& call, const UpdateForm& form, const Names& names) {
  const std::size_t given = call.inputs() - form.scalars;
  call.check(given % form.inputs == 0,
             "{} inputs were given, {} and {} for each variable are allowed", call.inputs(),
             form.scalars, form.inputs);
  check_float32(call, call.inputs());
  for (std::size_t i = 0; i < form.scalars; ++i) {
    const Shape& shape = call.input(i).shape;
    call.check(shape.rank() == 0, "{} is {}, a scalar is allowed", names.scalars[i], shape);
  }
  for (std::size_t i = form.scalars; i < call.inputs(); ++i) {
    const std::size_t part = (i - form.scalars) % form.inputs;
    const Shape& value = call.input(i - part).shape;
    call.check(call.input(i).shape == value,
               "the {} of variable {} is {}, its value's {} is allowed", names.inputs[part],
               (i - form.scalars) / form.inputs, call.input(i).shape, value);
  }
  return given / form.inputs;
}

void make_results(OpCall& call, const UpdateForm& form) {
  for (std::size_t i = 0; i < form.new_scalars; ++i) call.make(DType::kFloat32, {});
  const std::size_t variables = (call.inputs() - form.scalars) / form.inputs;
  for (std::size_t i = 0; i < variables; ++i) {
    const std::size_t first = form.first_input(i);
    for (std::size_t k = 0; k < form.outputs(); ++k) {
      call.make_instead(first + k);  // arithmetic: of inputs in memory
    }
  }
}

float rounded(double number) { return static_cast<float>(number); }
float rest_of(double number) { return static_cast<float>(1 - number); }

void adam_update(OpCall& call) {
  constexpr Names kNames{{"beta1 to the power of the step", "beta2 to the power of the step"},
                         {"value", "first moment", "second moment", "gradient"}};
  const std::size_t variables = check_variables(call, kAdam, kNames);
  const double beta1 = call.number(attribute_at("AdamUpdate", "beta1"));
  const double beta2 = call.number(attribute_at("AdamUpdate", "beta2"));
  call.params(AdamParams{
      .variables = variables,
      .beta1 = rounded(beta1),
      .rest1 = rest_of(beta1),
      .beta2 = rounded(beta2),
      .rest2 = rest_of(beta2),
      .epsilon = rounded(call.number(attribute_at("AdamUpdate", "epsilon"))),
      .negative_rate = rounded(-call.number(attribute_at("AdamUpdate", "learningRate")))});
  make_results(call, kAdam);
}

void sgd_update(OpCall& call) {
  constexpr Names kNames{{"the negative rate"}, {"value", "gradient"}};
  call.params(SgdParams{.variables = check_variables(call, kSgd, kNames)});
  make_results(call, kSgd);
}

void momentum_update(OpCall& call) {
  constexpr Names kNames{{"the negative rate", "the momentum"},
                         {"value", "accumulation", "gradient"}};
  call.params(
      MomentumParams{.variables = check_variables(call, kMomentum, kNames),
                     .nesterov = call.boolean(attribute_at("MomentumUpdate", "useNesterov"))});
  make_results(call, kMomentum);
}

void adagrad_update(OpCall& call) {
  constexpr Names kNames{{}, {"value", "sum of squares", "gradient"}};
  call.params(AdagradParams{
      .variables = check_variables(call, kAdagrad, kNames),
      .epsilon = rounded(call.number(attribute_at("AdagradUpdate", "epsilon"))),
      .negative_rate = rounded(-call.number(attribute_at("AdagradUpdate", "learningRate")))});
  make_results(call, kAdagrad);
}

void adadelta_update(OpCall& call) {
  constexpr Names kNames{{}, {"value", "mean of squares", "mean of updates", "gradient"}};
  const std::size_t variables = check_variables(call, kAdadelta, kNames);
  const double rho = call.number(attribute_at("AdadeltaUpdate", "rho"));
  call.params(AdadeltaParams{
      .variables = variables,
      .rho = rounded(rho),
      .rest = rest_of(rho),
      .epsilon = rounded(call.number(attribute_at("AdadeltaUpdate", "epsilon"))),
      .negative_rate = rounded(-call.number(attribute_at("AdadeltaUpdate", "learningRate")))});
  make_results(call, kAdadelta);
}

void adamax_update(OpCall& call) {
  constexpr Names kNames{{"beta1 to the power of the step", "the count of steps"},
                         {"value", "first moment", "norm", "gradient"}};
  const std::size_t variables = check_variables(call, kAdamax, kNames);
  const double beta1 = call.number(attribute_at("AdamaxUpdate", "beta1"));
  call.params(AdamaxParams{
      .variables = variables,
      .beta1 = rounded(beta1),
      .rest1 = rest_of(beta1),
      .beta2 = rounded(call.number(attribute_at("AdamaxUpdate", "beta2"))),
      .epsilon = rounded(call.number(attribute_at("AdamaxUpdate", "epsilon"))),
      .decay = rounded(call.number(attribute_at("AdamaxUpdate", "decay"))),
      .negative_rate = rounded(-call.number(attribute_at("AdamaxUpdate", "learningRate")))});
  make_results(call, kAdamax);
}

void rms_prop_update(OpCall& call) {
  constexpr Names kPlain{{}, {"value", "mean of squares", "moment", "gradient"}};
  constexpr Names kCentered{
      {}, {"value", "mean of squares", "moment", "mean of gradients", "gradient"}};
  const bool centered = call.boolean(attribute_at("RmsPropUpdate", "centered"));
  const UpdateForm form = centered ? kCenteredRmsProp : kRmsProp;
  const std::size_t variables = check_variables(call, form, centered ? kCentered : kPlain);
  const double decay = call.number(attribute_at("RmsPropUpdate", "decay"));
  call.params(
      RmsPropParams{.variables = variables,
                    .decay = rounded(decay),
                    .rest = rest_of(decay),
                    .momentum = rounded(call.number(attribute_at("RmsPropUpdate", "momentum"))),
                    .epsilon = rounded(call.number(attribute_at("RmsPropUpdate", "epsilon"))),
                    .rate = rounded(call.number(attribute_at("RmsPropUpdate", "learningRate"))),
                    .centered = centered});
  make_results(call, form);
}

}  // namespace

std::optional<UpdateForm> update_form(OpId op, std::span<const double> attributes) noexcept {
  if (op == op_id("AdamUpdate")) return kAdam;
  if (op == op_id("SgdUpdate")) return kSgd;
  if (op == op_id("MomentumUpdate")) return kMomentum;
  if (op == op_id("AdagradUpdate")) return kAdagrad;
  if (op == op_id("AdadeltaUpdate")) return kAdadelta;
  if (op == op_id("AdamaxUpdate")) return kAdamax;
  if (op != op_id("RmsPropUpdate")) return std::nullopt;
  return attributes[attribute_at("RmsPropUpdate", "centered")] != 0 ? kCenteredRmsProp : kRmsProp;
}

void add_optimizers(MeaningTable& table) {
  table.set(op_id("AdamUpdate"), adam_update);
  table.set(op_id("SgdUpdate"), sgd_update);
  table.set(op_id("MomentumUpdate"), momentum_update);
  table.set(op_id("AdagradUpdate"), adagrad_update);
  table.set(op_id("AdadeltaUpdate"), adadelta_update);
  table.set(op_id("AdamaxUpdate"), adamax_update);
  table.set(op_id("RmsPropUpdate"), rms_prop_update);
}

}  // namespace ebb::ops
