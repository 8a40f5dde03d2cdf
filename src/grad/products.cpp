// Gradients of matrix products: each operand's is the product of dy and the other operand.
#include <array>

#include "grad/fused.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;
using ops::attribute_of_all;

constexpr std::size_t kTransposeA = attribute_of_all("transposeA", "BatchMatMul", "_FusedMatMul");
constexpr std::size_t kTransposeB = attribute_of_all("transposeB", "BatchMatMul", "_FusedMatMul");

Tensor product(const Tensor& a, bool turn_a, const Tensor& b, bool turn_b) {
  return ops::batch_mat_mul(a, b, {.transpose_a = turn_a, .transpose_b = turn_b});
}

// dz reaches the product itself.
void give_factors(Backprop& call, const Tensor& dz) {
  const bool turned_a = call.boolean(kTransposeA), turned_b = call.boolean(kTransposeB);
  if (call.wants(0)) {
    const Tensor b = conjugate(call.x(1));
    call.give_summed(0,
                     turned_a ? product(b, turned_b, dz, true) : product(dz, false, b, !turned_b));
  }
  if (call.wants(1)) {
    const Tensor a = conjugate(call.x(0));
    call.give_summed(1,
                     turned_b ? product(dz, true, a, turned_a) : product(a, !turned_a, dz, false));
  }
}

void mat_mul(Backprop& call) { give_factors(call, call.dy()); }

void fused_mat_mul(Backprop& call) {
  const Epilogue epilogue{.activation = static_cast<ops::Activation>(
                              call.integer(attribute_at("_FusedMatMul", "activation"))),
                          .alpha = call.number(attribute_at("_FusedMatMul", "leakyreluAlpha"))};
  give_factors(call, through_epilogue(call, epilogue, [&] {
                 return product(call.x(0), call.boolean(kTransposeA), call.x(1),
                                call.boolean(kTransposeB));
               }));
}

constexpr auto kRows = std::to_array<GradientRow>({
    complex_too("BatchMatMul", mat_mul, kOtherInputs),
    {"_FusedMatMul", fused_mat_mul, {.inputs = 15, .outputs = 1}},
});
static_assert(covers(kRows, OfFamily{"products"}));

}  // namespace

std::span<const GradientRow> of_products() noexcept { return kRows; }

}  // namespace ebb::gradients
