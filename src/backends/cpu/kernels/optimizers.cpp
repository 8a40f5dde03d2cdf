// Updates of optimizers: the variables laid end to end, shared by the team.
#include "backends/cpu/kernels/optimizers.hpp"

#include <algorithm>

#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/subnormals.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;
using ops::UpdateForm;

// Up to three divisions and a root an element.
constexpr std::int64_t kGrain = 40 << 10;

UpdateRow row_of(OpCall& call, const UpdateForm& form, std::size_t variable, std::int64_t at) {
  UpdateRow row{};
  const std::size_t in = form.first_input(variable), out = form.first_output(variable);
  for (std::size_t k = 0; k < form.inputs; ++k) row.in[k] = call.in<float>(in + k) + at;
  for (std::size_t k = 0; k < form.outputs(); ++k) row.out[k] = call.out<float>(out + k) + at;
  return row;
}

template <typename Rule>
void update(OpCall& call, std::size_t variables, const Rule& given) {
  constexpr UpdateForm kForm = Rule::kForm;
  const UpdateRule rule = given;
  const auto length = [&](std::size_t variable) {
    return ops::elements(call.input(kForm.first_input(variable)).shape);
  };
  std::int64_t total = 0;
  for (std::size_t i = 0; i < variables; ++i) total += length(i);
  parallel_for(total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    const SubnormalsAsZero in_this_part;
    std::int64_t first = 0;  // of the variable, in all of them
    for (std::size_t i = 0; i < variables && first < end; ++i) {
      const std::int64_t count = length(i);
      const std::int64_t from = std::max(begin - first, std::int64_t{0});
      const std::int64_t to = std::min(end - first, count);
      if (from < to) update_row(row_of(call, kForm, i, from), to - from, rule);
      first += count;
    }
  });
}

float scalar(OpCall& call, std::size_t i) { return *call.in<float>(i); }

void adam_update(OpCall& call) {
  const float power1 = scalar(call, 0), power2 = scalar(call, 1);
  const auto& numbers = call.params<ops::AdamParams>();
  *call.out<float>(0) = power1 * numbers.beta1;
  *call.out<float>(1) = power2 * numbers.beta2;
  update(call, numbers.variables,
         AdamRule{.numbers = numbers, .correction1 = 1.0F - power1, .correction2 = 1.0F - power2});
}

void sgd_update(OpCall& call) {
  update(call, call.params<ops::SgdParams>().variables, SgdRule{.negative_rate = scalar(call, 0)});
}

void momentum_update(OpCall& call) {
  const auto& numbers = call.params<ops::MomentumParams>();
  const float rate = scalar(call, 0), momentum = scalar(call, 1);
  if (numbers.nesterov != 0) {
    update(call, numbers.variables, NesterovRule{.negative_rate = rate, .momentum = momentum});
  } else {
    update(call, numbers.variables, MomentumRule{.negative_rate = rate, .momentum = momentum});
  }
}

void adagrad_update(OpCall& call) {
  const auto& numbers = call.params<ops::AdagradParams>();
  update(call, numbers.variables, AdagradRule{numbers});
}

void adadelta_update(OpCall& call) {
  const auto& numbers = call.params<ops::AdadeltaParams>();
  update(call, numbers.variables, AdadeltaRule{numbers});
}

void adamax_update(OpCall& call) {
  const float power1 = scalar(call, 0), iteration = scalar(call, 1);
  const auto& numbers = call.params<ops::AdamaxParams>();
  *call.out<float>(0) = power1 * numbers.beta1;
  *call.out<float>(1) = iteration + 1.0F;
  update(
      call, numbers.variables,
      AdamaxRule{.numbers = numbers, .corrected_rate = corrected_rate(numbers, power1, iteration)});
}

void rms_prop_update(OpCall& call) {
  const auto& numbers = call.params<ops::RmsPropParams>();
  if (numbers.centered != 0) {
    update(call, numbers.variables, CenteredRmsPropRule{numbers});
  } else {
    update(call, numbers.variables, RmsPropRule{numbers});
  }
}

}  // namespace

void add_optimizers(KernelTable& table) {
  using ops::op_id;
  table.set(op_id("AdamUpdate"), adam_update);
  table.set(op_id("SgdUpdate"), sgd_update);
  table.set(op_id("MomentumUpdate"), momentum_update);
  table.set(op_id("AdagradUpdate"), adagrad_update);
  table.set(op_id("AdadeltaUpdate"), adadelta_update);
  table.set(op_id("AdamaxUpdate"), adamax_update);
  table.set(op_id("RmsPropUpdate"), rms_prop_update);
}

}  // namespace ebb::cpu
