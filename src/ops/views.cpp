// Operations that move no data: another tensor over the same memory.
#include <optional>

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/moves.hpp"

namespace ebb::ops {
namespace {

// The elements of the input in another shape, or the same.
void view_as(OpCall& call, const Shape& shape, const Strides& strides) {
  call.view(0, 0, call.input(0).dtype, shape, strides);
  call.done();
}

void identity(OpCall& call) { view_as(call, call.input(0).shape, strides_of(call.input(0))); }

// How elements that lie so are reached in another shape; none where no strides do that. Both shapes
// are cut into the shortest groups of axes with as many elements; a group of the given shape must
// be one run.
std::optional<Strides> reshaped(const Operand& x, const Shape& shape) {
  const std::span<const std::int64_t> from = x.shape.dims(), to = shape.dims();
  Strides strides{};
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t first = j;
    std::int64_t step = i < from.size() ? x.strides[i] : 1;
    std::int64_t given = i < from.size() ? from[i++] : 1;
    std::int64_t asked = j < to.size() ? to[j++] : 1;
    while (given != asked) {
      if (asked < given) {
        asked = checked_mul(asked, to[j++]);
        continue;
      }
      if (from[i] != 1 && given != 1 && step != checked_mul(x.strides[i], from[i])) {
        return std::nullopt;
      }
      if (from[i] != 1) step = x.strides[i];
      given = checked_mul(given, from[i++]);
    }
    for (std::size_t axis = j; axis-- > first; step = checked_mul(step, to[axis])) {
      strides[axis] = step;
    }
  }
  return strides;
}

void reshape(OpCall& call) {
  const Operand& x = call.input(0);
  IntList dims = call.integers(attribute_at("Reshape", "shape"));
  call.check(dims.size() <= kMaxRank, "rank {} was given, at most {} is allowed", dims.size(),
             kMaxRank);
  std::int64_t known = 1;
  std::size_t open = dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && open == dims.size()) {
      open = i;
    } else {
      call.check(dims[i] >= 0, "shape {} was given, one extent of -1 is allowed", dims);
      known = saturating_mul(known, dims[i]);
    }
  }
  const std::int64_t total = elements(x.shape);
  if (open < dims.size()) dims[open] = known == 0 ? 0 : total / known;
  const Shape shape{std::span<const std::int64_t>(dims)};
  call.check(elements(shape) == total, "shape {} was given for {} elements of {}", dims, total,
             x.shape);
  if (x.dense) return view_as(call, shape, dense_strides(shape));
  if (const std::optional<Strides> strides = reshaped(x, shape)) {
    return view_as(call, shape, *strides);
  }
  if (captured_memory != nullptr) {  // the tensor itself stays as it is
    call.make_packed(0, shape);
    return call.done();
  }
  call.make_dense(0);
  view_as(call, shape, dense_strides(shape));
}

void expand_dims(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() < kMaxRank, "rank {} was given, at most {} is allowed", x.shape.rank(),
             kMaxRank - 1);
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("ExpandDims", "dim")), x.shape.rank() + 1);
  IntList dims;
  Strides strides{};
  const Strides given = strides_of(x);
  for (std::size_t i = 0; i <= x.shape.rank(); ++i) {
    if (i == axis) dims.push_back(1);
    if (i == x.shape.rank()) break;
    strides[dims.size()] = given[i];
    dims.push_back(x.shape.dims()[i]);
  }
  view_as(call, Shape(dims), strides);
}

// ---- views where that is worth it

void slice(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList begin = list_for_axes(call, attribute_at("Slice", "begin"));
  IntList size = list_for_axes(call, attribute_at("Slice", "size"));
  const Strides steps = strides_of(x);
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::int64_t dim = x.shape.dims()[i];
    if (size[i] == -1) size[i] = checked_sub(dim, begin[i]);
    call.check(begin[i] >= 0 && size[i] >= 0 && begin[i] <= dim && size[i] <= dim - begin[i],
               "begin {} and size {} were given for axis {} of extent {}", begin[i], size[i], i,
               dim);
  }
  const Shape shape{std::span<const std::int64_t>(size)};
  if (make_if_empty(call, x.dtype, shape)) return;
  CopyPlan plan;
  for (std::size_t i = 0; i < size.size(); ++i) {
    plan.from_offset = checked_add(plan.from_offset, checked_mul(begin[i], steps[i]));
  }
  plan.add(shape, steps, dense_strides(shape));
  view_or_move(call, x.dtype, shape, plan);
}

void transpose(OpCall& call) {
  const Operand& x = call.input(0);
  const IntList perm = list_for_axes(call, attribute_at("Transpose", "perm"));
  const Strides steps = strides_of(x);
  std::array<bool, kMaxRank> seen{};
  IntList dims;
  for (const std::int64_t axis : perm) {
    const std::size_t from = checked_axis(call, axis, x.shape.rank());
    call.check(!seen[from], "perm {} names axis {} twice", perm, from);
    seen[from] = true;
    dims.push_back(x.shape.dims()[from]);
  }
  const Shape shape(dims);
  const auto to = dense_strides(shape);
  CopyPlan plan;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    plan.add(dims[i], steps[checked_axis(call, perm[i], dims.size())], to[i]);
  }
  view_or_move(call, x.dtype, shape, plan);
}

template <int kPart>
void part_of_complex(OpCall& call) {
  const Operand& x = call.input(0);
  if (x.dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
  if (make_if_empty(call, DType::kFloat32, x.shape)) return;
  Strides steps = strides_of(x);
  for (std::int64_t& step : steps) step = checked_mul(step, 2);  // in floats
  CopyPlan plan{.from_offset = kPart};
  plan.add(x.shape, steps, dense_strides(x.shape));
  view_or_move(call, DType::kFloat32, x.shape, plan);
}

}  // namespace

void add_views(MeaningTable& table) {
  table.set(op_id("Identity"), identity, Strided::kFirst);
  table.set(op_id("Reshape"), reshape, Strided::kFirst);
  table.set(op_id("ExpandDims"), expand_dims, Strided::kFirst);
  table.set(op_id("Slice"), slice, Strided::kFirst);
  table.set(op_id("Transpose"), transpose, Strided::kFirst);
  table.set(op_id("Real"), part_of_complex<0>, Strided::kFirst);
  table.set(op_id("Imag"), part_of_complex<1>, Strided::kFirst);
}

}  // namespace ebb::ops
