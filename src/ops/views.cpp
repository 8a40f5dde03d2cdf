// Operations that move no data: another tensor over the same memory.
#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void identity(OpCall& call) {
  call.view(0, 0, call.input(0).dtype, call.input(0).shape);
  call.done();
}

void reshape(OpCall& call) {
  const Operand& x = call.input(0);
  IntList dims = call.integers(0);
  call.check(dims.size() <= kMaxRank, "rank {} was given, at most {} is allowed", dims.size(),
             kMaxRank);
  std::int64_t known = 1;
  std::size_t open = dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1 && open == dims.size()) {
      open = i;
    } else {
      call.check(dims[i] >= 0, "shape {} was given, one extent of -1 is allowed",
                 dims_to_string(dims));
      known *= dims[i];
    }
  }
  const std::int64_t total = elements(x.shape);
  if (open < dims.size()) dims[open] = known == 0 ? 0 : total / known;
  const Shape shape{std::span<const std::int64_t>(dims)};
  call.check(elements(shape) == total, "shape {} was given for {} elements of {}",
             dims_to_string(dims), total, x.shape.to_string());
  call.view(0, 0, x.dtype, shape);
  call.done();
}

void expand_dims(OpCall& call) {
  const Operand& x = call.input(0);
  call.check(x.shape.rank() < kMaxRank, "rank {} was given, at most {} is allowed", x.shape.rank(),
             kMaxRank - 1);
  const std::size_t axis = checked_axis(call, call.integer(0), x.shape.rank() + 1);
  IntList dims;
  for (std::size_t i = 0; i <= x.shape.rank(); ++i) {
    if (i == axis) dims.push_back(1);
    if (i < x.shape.rank()) dims.push_back(x.shape.dims()[i]);
  }
  call.view(0, 0, x.dtype, Shape(dims));
  call.done();
}

}  // namespace

void add_views(MeaningTable& table) {
  table.set(op_id("Identity"), identity);
  table.set(op_id("Reshape"), reshape);
  table.set(op_id("ExpandDims"), expand_dims);
}

}  // namespace ebb::ops
