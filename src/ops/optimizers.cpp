// Updates of optimizers, all variables of a model in one call.
#include "ops/params/optimizers.hpp"

#include <array>

#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kBeta1 = attribute_at("AdamUpdate", "beta1");
constexpr std::size_t kBeta2 = attribute_at("AdamUpdate", "beta2");
constexpr std::size_t kRate = attribute_at("AdamUpdate", "learningRate");
constexpr std::size_t kEpsilon = attribute_at("AdamUpdate", "epsilon");

constexpr std::array<std::string_view, kAdamInputs> kNames{"value", "first moment", "second moment",
                                                           "gradient"};

void adam_update(OpCall& call) {
  const std::size_t given = call.inputs() - kAdamScalars;
  call.check(given % kAdamInputs == 0,
             "{} inputs were given, {} and {} for each variable are allowed", call.inputs(),
             kAdamScalars, kAdamInputs);
  check_float32(call, call.inputs());
  for (std::size_t i = 0; i < kAdamScalars; ++i) {
    const Shape& shape = call.input(i).shape;
    call.check(shape.rank() == 0, "beta{} to the power of the step is {}, a scalar is allowed",
               i + 1, shape);
  }
  for (std::size_t i = kAdamScalars; i < call.inputs(); ++i) {
    const std::size_t part = (i - kAdamScalars) % kAdamInputs;
    const Shape& value = call.input(i - part).shape;
    call.check(call.input(i).shape == value,
               "the {} of variable {} is {}, its value's {} is allowed", kNames[part],
               (i - kAdamScalars) / kAdamInputs, call.input(i).shape, value);
  }
  const double beta1 = call.number(kBeta1), beta2 = call.number(kBeta2);
  call.params(AdamParams{.variables = given / kAdamInputs,
                         .beta1 = static_cast<float>(beta1),
                         .rest1 = static_cast<float>(1 - beta1),
                         .beta2 = static_cast<float>(beta2),
                         .rest2 = static_cast<float>(1 - beta2),
                         .epsilon = static_cast<float>(call.number(kEpsilon)),
                         .negative_rate = static_cast<float>(-call.number(kRate))});
  for (std::size_t i = 0; i < kAdamScalars; ++i) call.make(DType::kFloat32, {});
  for (std::size_t i = kAdamScalars; i < call.inputs(); i += kAdamInputs) {
    for (std::size_t k = 0; k < kAdamOutputs; ++k) {
      call.make(DType::kFloat32, call.input(i).shape);
    }
  }
}

}  // namespace

void add_optimizers(MeaningTable& table) { table.set(op_id("AdamUpdate"), adam_update); }

}  // namespace ebb::ops
