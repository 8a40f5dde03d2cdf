// Operations that move no data: another tensor over the same memory.
#include <optional>

#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

// The elements of the input in another shape, or the same.
void view_as(OpCall& call, const Shape& shape, const Strides& strides) {
  call.view(0, 0, call.input(0).dtype, shape, strides);
  call.done();
}

void identity(OpCall& call) { view_as(call, call.input(0).shape, strides_of(call.input(0))); }

// How elements that lie so are walked in another shape; none where no strides do that. Both shapes
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
        asked *= to[j++];
        continue;
      }
      if (from[i] != 1 && given != 1 && step != x.strides[i] * from[i]) return std::nullopt;
      if (from[i] != 1) step = x.strides[i];
      given *= from[i++];
    }
    for (std::size_t axis = j; axis-- > first; step *= to[axis]) strides[axis] = step;
  }
  return strides;
}

void reshape(OpCall& call) {
  const Operand& x = call.input(0);
  IntList dims = call.integers(0);
  call.check(dims.size() <= kMaxRank, "rank {} was given, at most {} is allowed", dims.size(),
             kMaxRank);
  std::int64_t known = 1;
  bool fits = true;  // into 64 bits
  std::size_t open = dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && open == dims.size()) {
      open = i;
    } else {
      call.check(dims[i] >= 0, "shape {} was given, one extent of -1 is allowed",
                 dims_to_string(dims));
      fits = !__builtin_mul_overflow(known, dims[i], &known) && fits;
    }
  }
  const std::int64_t total = elements(x.shape);
  if (open < dims.size()) dims[open] = known == 0 ? 0 : total / known;
  const Shape shape{std::span<const std::int64_t>(dims)};
  call.check(fits && elements(shape) == total, "shape {} was given for {} elements of {}",
             dims_to_string(dims), total, x.shape.to_string());
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
  const std::size_t axis = checked_axis(call, call.integer(0), x.shape.rank() + 1);
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

}  // namespace

void add_views(MeaningTable& table) {
  table.set(op_id("Identity"), identity, Strided::kFirst);
  table.set(op_id("Reshape"), reshape, Strided::kFirst);
  table.set(op_id("ExpandDims"), expand_dims, Strided::kFirst);
}

}  // namespace ebb::ops
