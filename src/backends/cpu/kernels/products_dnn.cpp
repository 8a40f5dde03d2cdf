// Products of float32 matrices, by oneDNN.
#include <algorithm>
#include <array>

#include "backends/cpu/dnn_run.hpp"
#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/products.hpp"
#include "backends/cpu/team.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;
using ops::Product;
using MatrixDims = std::array<std::int64_t, kMaxRank>;

struct Operand {
  MatrixDims dims{};
  MatrixDims strides{};

  DnnDesc desc(std::size_t rank) const {
    return desc_of(Dims(dims.data(), rank), Dims(strides.data(), rank));
  }
};

// Row-major over the batch axes; the matrix itself may lie transposed.
Operand operand_of(const MatrixDims& batch, std::size_t axes, std::int64_t rows,
                   std::int64_t columns, bool transposed) {
  Operand made{batch, {}};
  made.dims[axes] = rows;
  made.dims[axes + 1] = columns;
  made.strides[axes] = transposed ? 1 : columns;
  made.strides[axes + 1] = transposed ? rows : 1;
  std::int64_t step = rows * columns;
  for (std::size_t axis = axes; axis-- > 0;) {
    made.strides[axis] = step;
    step *= batch[axis];
  }
  return made;
}

Operand bias_of(std::size_t axes, std::int64_t columns) {
  MatrixDims ones{};
  ones.fill(1);
  return operand_of(ones, axes, 1, columns, false);
}

Plan make_plan(const Product& p, bool bias) {
  const std::size_t axes = p.batch_axes();
  const double flops = 2.0 * static_cast<double>(matrices(p.batch, axes) * p.rows) *
                       static_cast<double>(p.inner * p.columns);
  const bool alone = flops < kAloneFlops;
  Alone guard(alone);
  const Operand a = operand_of(p.a_batch, axes, p.rows, p.inner, p.transpose_a);
  const Operand b = operand_of(p.b_batch, axes, p.inner, p.columns, p.transpose_b);
  const Operand c = operand_of(p.batch, axes, p.rows, p.columns, false);
  const DnnDesc bias_desc = bias ? bias_of(axes, p.columns).desc(p.rank) : DnnDesc();
  const DnnAttributes attr = attributes();
  const DnnPrimitiveDesc desc =
      describe("a product", dnn().matmul_primitive_desc_create, a.desc(p.rank).get(),
               b.desc(p.rank).get(), bias_desc.get(), c.desc(p.rank).get(), attr.get());
  std::vector<Plan::Argument> arguments;
  arguments.push_back({DNNL_ARG_SRC, Plan::Role::kInput, a.desc(p.rank)});
  arguments.push_back({DNNL_ARG_WEIGHTS, Plan::Role::kInput, b.desc(p.rank)});
  arguments.push_back({DNNL_ARG_DST, Plan::Role::kOutput, c.desc(p.rank)});
  if (bias) {
    arguments.push_back({DNNL_ARG_BIAS, Plan::Role::kInput, bias_of(axes, p.columns).desc(p.rank)});
  }
  return Plan(desc, std::move(arguments), alone);
}

PlanKey key(const Product& p, bool bias) {
  PlanKey key = key_of(PlanKind::kProduct);
  const std::size_t axes = p.batch_axes();
  key.add(p.rows).add(p.inner).add(p.columns);
  key.add(p.transpose_a + 2 * p.transpose_b + 4 * bias);
  key.add(Dims(p.a_batch.data(), axes)).add(Dims(p.b_batch.data(), axes));
  return key;
}

// Below it the call of oneDNN takes a good part of the time: 3.0 us for [32,64] x [64,32], 2.3 by blocks.
constexpr double kSmallFlops = 1e6;

// On this thread, by a right-hand matrix as it lies.
bool multiplied_small(OpCall& call, const Product& p, bool bias) {
  const double flops = 2.0 * static_cast<double>(p.rows * p.inner) * static_cast<double>(p.columns);
  if (p.batch_axes() != 0 || p.transpose_b || p.columns % blocks::kColumns != 0 ||
      flops > kSmallFlops) {
    return false;
  }
  const blocks::Finish finish{.bias = bias ? call.in<float>(2) : nullptr, .limits = {}};
  blocks::multiply(
      {.left = {call.in<float>(0), p.transpose_a ? 1 : p.inner, p.transpose_a ? p.rows : 1},
       .right = call.in<float>(1),
       .out = call.out<float>(0),
       .out_row = p.columns,
       .rows = p.rows,
       .inner = p.inner,
       .columns = p.columns,
       .finish = bias ? &finish : nullptr,
       .right_row = p.columns});
  if (!p.epilogue.empty()) apply_epilogue(call, p.epilogue, bias);
  return true;
}

}  // namespace

void multiply_floats(OpCall& call) {
  const ops::Epilogue& epilogue = call.params<Product>().epilogue;
  const bool bias = epilogue.bias.given && is_per_column(epilogue.bias, call.output(0).shape);
  const Product product = folded(call.params<Product>());
  if (multiplied_row(call, product, bias) || multiplied_small(call, product, bias)) return;
  Plan& plan = PlanCache::here().get(key(product, bias), [&] { return make_plan(product, bias); });
  const std::array<const void*, 4> data{call.in<float>(0), call.in<float>(1), call.out<float>(0),
                                        bias ? call.in<float>(2) : nullptr};
  run_plan(call, plan, std::span(data).first(bias ? 4 : 3));
  if (!epilogue.empty()) apply_epilogue(call, epilogue, bias);
}

}  // namespace ebb::cpu
