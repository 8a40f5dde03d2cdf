// Updates of optimizers: the variables laid end to end, shared by the team.
#include "backends/cpu/kernels/optimizers.hpp"

#include <algorithm>

#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::kAdamInputs;
using ops::kAdamOutputs;
using ops::kAdamScalars;
using ops::OpCall;

// Three divisions and a root an element.
constexpr std::int64_t kGrain = 16 << 10;

AdamRow row_of(OpCall& call, std::size_t variable, std::int64_t at) {
  const std::size_t in = kAdamScalars + variable * kAdamInputs;
  const std::size_t out = kAdamScalars + variable * kAdamOutputs;
  return {.value = call.in<float>(in) + at,
          .first = call.in<float>(in + 1) + at,
          .second = call.in<float>(in + 2) + at,
          .gradient = call.in<float>(in + 3) + at,
          .new_value = call.out<float>(out) + at,
          .new_first = call.out<float>(out + 1) + at,
          .new_second = call.out<float>(out + 2) + at};
}

void adam_update(OpCall& call) {
  const float power1 = *call.in<float>(0), power2 = *call.in<float>(1);
  const auto& numbers = call.params<ops::AdamParams>();
  const AdamStep step{
      .numbers = numbers, .correction1 = 1.0F - power1, .correction2 = 1.0F - power2};
  *call.out<float>(0) = power1 * numbers.beta1;
  *call.out<float>(1) = power2 * numbers.beta2;
  const auto length = [&](std::size_t variable) {
    return ops::elements(call.input(kAdamScalars + variable * kAdamInputs).shape);
  };
  std::int64_t total = 0;
  for (std::size_t i = 0; i < numbers.variables; ++i) total += length(i);
  parallel_for(total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // of the variable, in all of them
    for (std::size_t i = 0; i < numbers.variables && first < end; ++i) {
      const std::int64_t count = length(i);
      const std::int64_t from = std::max(begin - first, std::int64_t{0});
      const std::int64_t to = std::min(end - first, count);
      if (from < to) adam_row(row_of(call, i, from), to - from, step);
      first += count;
    }
  });
}

}  // namespace

void add_optimizers(KernelTable& table) { table.set(ops::op_id("AdamUpdate"), adam_update); }

}  // namespace ebb::cpu
