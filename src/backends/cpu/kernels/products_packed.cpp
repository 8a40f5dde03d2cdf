// Products by matrices that were packed before (ops/packed.hpp).
#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"
#include "ops/packed.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;

static_assert(ops::kPanelColumns == blocks::kColumns);

void pack_matrix(OpCall& call) {
  const auto& p = call.params<ops::PackedMatrix>();
  blocks::pack_together(
      {.part = {call.in<float>(0), p.transposed ? 1 : p.columns, p.transposed ? p.inner : 1},
       .first = 0,
       .rows = p.inner,
       .inner = p.inner,
       .columns = p.columns,
       .to = call.out<float>(0)});
}

void multiply_packed(OpCall& call) {
  const auto& p = call.params<ops::PackedProduct>();
  const bool bias = p.epilogue.bias.given && is_per_column(p.epilogue.bias, call.output(0).shape);
  blocks::Finish finish{.bias = bias ? call.in<float>(2) : nullptr, .limits = {}};
  // An activation comes after the bias.
  const auto limits = limits_of(p.epilogue.activation);
  const bool whole = bias == p.epilogue.bias.given && limits.has_value();
  if (whole) finish.limits = *limits;
  blocks::multiply_together({.left = {call.in<float>(0), p.inner, 1},
                             .right = call.in<float>(1),
                             .out = call.out<float>(0),
                             .out_row = p.columns,
                             .rows = p.rows,
                             .inner = p.inner,
                             .columns = p.columns,
                             .finish = &finish});
  if (!whole) apply_epilogue(call, p.epilogue, bias);
}

}  // namespace

void add_products_packed(KernelTable& table) {
  table.set(ops::kPackedMatrix, pack_matrix);
  table.set(ops::kPackedProduct, multiply_packed);
}

}  // namespace ebb::cpu
