// Products of float32 matrices, by oneDNN.
#include <algorithm>
#include <array>
#include <exception>

#include "backends/cpu/dnn_run.hpp"
#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/products.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/shift.hpp"
#include "backends/cpu/team.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::OpCall;
using ops::Product;
constexpr std::size_t kMostParts = 64;
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

double flops_of(const Product& p) {
  return 2.0 * static_cast<double>(matrices(p.batch, p.batch_axes()) * p.rows) *
         static_cast<double>(p.inner * p.columns);
}

Plan make_plan(const Product& p, bool bias, bool alone) {
  const std::size_t axes = p.batch_axes();
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

PlanKey key(const Product& p, bool bias, PlanKind kind = PlanKind::kProduct) {
  PlanKey key = key_of(kind);
  const std::size_t axes = p.batch_axes();
  key.add(p.rows).add(p.inner).add(p.columns);
  key.add(p.transpose_a + 2 * p.transpose_b + 4 * bias);
  key.add(Dims(p.a_batch.data(), axes)).add(Dims(p.b_batch.data(), axes));
  return key;
}

// ---- in a shift: a batch in parts, each with a plan of its own

// As many of a product's matrices, of which each has its own right-hand one.
Product some_of(const Product& p, std::int64_t count) {
  Product some = p;
  some.rank = 3;
  some.batch = some.a_batch = some.b_batch = {count};
  return some;
}

// Into how many equal parts a batch is cut; 1: it is not.
std::int64_t parts_of(const Product& p) {
  const std::size_t axes = p.batch_axes();
  const std::int64_t count = matrices(p.batch, axes);
  const bool is_plain = matrices(p.a_batch, axes) == count && matrices(p.b_batch, axes) == count;
  if (!is_plain || flops_of(p) < 2 * blocks::kCrewPartFlops) return 1;
  std::int64_t parts = std::min<std::int64_t>(count, kMostParts);
  while (parts > 2 * team_size() || count % parts != 0) --parts;
  return parts;
}

// A batch of products, some of them in each of its parts.
class BatchInParts {
 public:
  BatchInParts(OpCall& call, const Product& p, std::int64_t parts)
      : call_(call), parts_(parts), some_(some_of(p, matrices(p.batch, p.batch_axes()) / parts)) {
    for (std::int64_t i = 0; i < parts; ++i) {
      PlanKey own = key(some_, false, PlanKind::kProductPart);
      own.add(i);
      plans_[static_cast<std::size_t>(i)] =
          &PlanCache::here().get(own, [&] { return make_plan(some_, false, true); });
    }
    bytes_ = plans_[0]->workspace_bytes();
    if (bytes_ != 0) {
      workspace_ = call.workspace(checked_mul(bytes_, static_cast<std::size_t>(parts)));
    }
  }

  void run() {
    parallel_for(parts_, 1, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_part(static_cast<std::size_t>(i));
    });
    for (const std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  void run_part(std::size_t i) noexcept {
    const std::int64_t first = static_cast<std::int64_t>(i) * some_.batch[0];
    const std::array<const void*, 3> data{call_.in<float>(0) + first * some_.rows * some_.inner,
                                          call_.in<float>(1) + first * some_.inner * some_.columns,
                                          call_.out<float>(0) + first * some_.rows * some_.columns};
    try {
      plans_[i]->run(data, workspace_ + bytes_ * i);
    } catch (...) {  // the process ends
      errors_[i] = std::current_exception();
    }
  }

  OpCall& call_;
  std::int64_t parts_;
  Product some_;
  std::array<Plan*, kMostParts> plans_{};
  std::array<std::exception_ptr, kMostParts> errors_{};
  std::size_t bytes_ = 0;
  std::byte* workspace_ = nullptr;
};

bool multiplied_in_parts(OpCall& call, const Product& p) {
  if (!Shift::is_on() || p.batch_axes() == 0) return false;
  const std::int64_t parts = parts_of(p);
  if (parts > 1) BatchInParts(call, p, parts).run();
  return parts > 1;
}

// ----

// Below it the call of oneDNN takes a good part of the time: 3.0 us for [32,64] x [64,32], 2.3 by blocks.
constexpr double kSmallFlops = 1e6;

// Up to there blocks that lie as they are take as long as oneDNN, on one thread; and they can be shared by as many threads
// as it is worth on this machine, since that changes no bits.
constexpr double kBlockFlops = 16e6;

// Whether blocks may take the right-hand matrix as it lies.
bool suits_as_it_lies(const Product& p) {
  return !p.transpose_b && p.columns % blocks::kColumns == 0;
}

// Others are packed, on the stack, where they are tiny: 2.9 us for [32,24] x [24,24] by oneDNN.
constexpr std::int64_t kTinyFloats = 4096;

bool is_tiny(const Product& p) {
  return p.columns <= kTinyFloats && p.inner <= kTinyFloats / blocks::rounded(p.columns);
}

void multiply_by_blocks(OpCall& call, const Product& p, bool bias, const float* right,
                        std::int64_t right_row) {
  const blocks::Finish finish{.bias = bias ? call.in<float>(2) : nullptr, .limits = {}};
  blocks::multiply_together(
      {.left = {call.in<float>(0), p.transpose_a ? 1 : p.inner, p.transpose_a ? p.rows : 1},
       .right = right,
       .out = call.out<float>(0),
       .out_row = p.columns,
       .rows = p.rows,
       .inner = p.inner,
       .columns = p.columns,
       .finish = bias ? &finish : nullptr,
       .right_row = right_row});
}

void multiply_tiny(OpCall& call, const Product& p, bool bias) {
  alignas(64) float packed[kTinyFloats];
  blocks::pack(
      {.part = {call.in<float>(1), p.transpose_b ? 1 : p.columns, p.transpose_b ? p.inner : 1},
       .first = 0,
       .rows = p.inner,
       .inner = p.inner,
       .columns = p.columns,
       .to = packed});
  multiply_by_blocks(call, p, bias, packed, 0);
}

bool multiplied_small(OpCall& call, const Product& p, bool bias) {
  const bool as_it_lies = suits_as_it_lies(p);
  const double most = as_it_lies ? kBlockFlops : kSmallFlops;
  if (p.batch_axes() != 0 || (!as_it_lies && !is_tiny(p)) || flops_of(p) > most) return false;
  if (as_it_lies) {
    multiply_by_blocks(call, p, bias, call.in<float>(1), p.columns);
  } else {
    multiply_tiny(call, p, bias);
  }
  if (!p.epilogue.empty()) apply_epilogue(call, p.epilogue, bias);
  return true;
}

}  // namespace

void multiply_floats(OpCall& call) {
  const ops::Epilogue& epilogue = call.params<Product>().epilogue;
  const bool bias = epilogue.bias.given && is_per_column(epilogue.bias, call.output(0).shape);
  const Product product = folded(call.params<Product>());
  if (multiplied_row(call, product, bias) || multiplied_small(call, product, bias)) return;
  if (multiplied_in_parts(call, product)) {
    if (!epilogue.empty()) apply_epilogue(call, epilogue, false);
    return;
  }
  const bool alone = flops_of(product) < kAloneFlops;
  Plan& plan =
      PlanCache::here().get(key(product, bias), [&] { return make_plan(product, bias, alone); });
  const std::array<const void*, 4> data{call.in<float>(0), call.in<float>(1), call.out<float>(0),
                                        bias ? call.in<float>(2) : nullptr};
  run_plan(call, plan, std::span(data).first(bias ? 4 : 3));
  if (!epilogue.empty()) apply_epilogue(call, epilogue, bias);
}

}  // namespace ebb::cpu
