#include "ops/moves.hpp"

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/params/movement.hpp"

namespace ebb::ops {
namespace {

// What a view may keep alive at most, in its own sizes: a small part of a large tensor is copied.
// Where the memory is captured, it stays anyway, and may be some more than was asked for.
constexpr std::uint64_t kMostKept = 4, kMostCaptured = 64;

// Between neighbours along the last axis that has some.
std::int64_t inner_step(const Shape& shape, const Strides& strides) {
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape.dims()[i] != 1) return strides[i];
  }
  return 1;
}

bool is_worth_a_view(const Operand& x, DType dtype, const Shape& shape, const Strides& strides) {
  const std::uint64_t bytes = bytes_of(shape, size_of(dtype));
  if (bytes == 0) return false;
  if (is_dense(shape, strides)) return true;
  // A GPU reads neighbours together; where they lie apart, one copy by tiles costs less.
  if (x.memory.device().link() != nullptr && inner_step(shape, strides) != 1) return false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (strides[i] < 0) return false;  // backwards through memory: no kernel gains by it
  }
  const std::uint64_t most = captured_memory != nullptr ? kMostCaptured : kMostKept;
  return x.memory.data().size() / most <= bytes;
}

}  // namespace

void move(OpCall& call, const Shape& shape, const CopyPlan& plan) {
  call.make(call.input(0).dtype, shape);
  MoveParams& params = call.params(MoveParams{.plan = plan});
  params.plan.simplify();
}

void view_or_move(OpCall& call, DType dtype, const Shape& shape, const CopyPlan& plan) {
  Strides strides{};
  for (std::size_t i = 0; i < shape.rank(); ++i) strides[i] = plan.from_step[i];
  if (is_worth_a_view(call.input(0), dtype, shape, strides)) {
    const auto offset = static_cast<std::uint64_t>(plan.from_offset);
    call.view(0, checked_mul(offset, size_of(dtype)), dtype, shape, strides);
    return call.done();
  }
  call.make(dtype, shape);
  call.params(MoveParams{.plan = plan}).plan.simplify();
}

IntList list_for_axes(OpCall& call, std::size_t attribute, std::size_t times) {
  const std::size_t rank = call.input(0).shape.rank();
  const std::size_t needed = times * rank;  // arithmetic: of axes
  const IntList list = call.integers(attribute);
  call.check(list.size() == needed, "{} has {} values, {} are needed for rank {}",
             call.spec().attributes[attribute].name, list.size(), needed, rank);
  return list;
}

void reverse_axes(OpCall& call, const IntList& axes) {
  const Operand& x = call.input(0);
  std::array<bool, kMaxRank> reversed{};
  for (const std::int64_t axis : axes) reversed[checked_axis(call, axis, x.shape.rank())] = true;
  if (make_if_empty(call, x.dtype, x.shape)) return;
  const Strides from = strides_of(x), to = dense_strides(x.shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const std::int64_t dim = x.shape.dims()[i];
    plan.add(dim, reversed[i] ? -from[i] : from[i], to[i]);
    if (!reversed[i]) continue;
    plan.from_offset = checked_add(plan.from_offset, checked_mul(dim - 1, from[i]));
  }
  move(call, x.shape, plan);
}

}  // namespace ebb::ops
