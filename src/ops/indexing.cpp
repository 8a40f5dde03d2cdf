// Gathers and scatters.
#include "ops/params/indexing.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

// The messages are TensorFlow.js's: programs and its tests know them.
std::size_t batch_axes(OpCall& call, const Shape& x, const Shape& indices, std::size_t axis) {
  const auto rank = static_cast<std::int64_t>(indices.rank());
  std::int64_t batch = call.integer(attribute_at("GatherV2", "batchDims"));
  call.check(batch == 0 || (batch >= -rank && batch <= rank),
             "Expect batchDims in the range of [-{}, {}], but got {}", rank, rank, batch);
  if (batch < 0) batch += rank;  // arithmetic: of axes
  call.check(batch <= static_cast<std::int64_t>(axis),
             "batchDims ({}) must be less than or equal to axis ({}).", batch, axis);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
    call.check(x.dims()[i] == indices.dims()[i],
               "x.shape[{}]: {} should be equal to indices.shape[{}]: {}.", i, x.dims()[i], i,
               indices.dims()[i]);
  }
  return static_cast<std::size_t>(batch);
}

// Where the slices of a strided operand are runs, one step apart along the axis and another along
// all the axes before it. False, the params half set: they are not.
bool set_steps(GatherParams& params, const Operand& x, std::size_t axis) {
  Strides after{};
  std::copy(x.strides.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.strides.end(),
            after.begin());
  if (!is_dense(Shape(x.shape.dims().subspan(axis + 1)), after)) return false;
  params.extent_step = x.strides[axis];
  std::int64_t next = -1;  // of the axis before, so that the two go on as one; -1: any
  for (std::size_t i = axis; i-- > 0;) {
    const std::int64_t dim = x.shape.dims()[i];
    if (dim == 1) continue;
    if (next == -1) params.row_step = x.strides[i];
    if (next != -1 && x.strides[i] != next) return false;
    next = saturating_mul(x.strides[i], dim);
  }
  return true;
}

void gather(OpCall& call) {
  call.convert_input(1, DType::kInt32);
  const Shape& x = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("GatherV2", "axis")), x.rank());
  const std::size_t batch = batch_axes(call, x, indices, axis);
  IntList dims;
  for (std::size_t i = 0; i < axis; ++i) dims.push_back(x.dims()[i]);
  for (std::size_t i = batch; i < indices.rank(); ++i) dims.push_back(indices.dims()[i]);
  for (std::size_t i = axis + 1; i < x.rank(); ++i) dims.push_back(x.dims()[i]);
  call.check(dims.size() <= kMaxRank, "the result has rank {}, at most {} is allowed", dims.size(),
             kMaxRank);
  GatherParams params{.batch = extent(x, 0, batch),
                      .outer = extent(x, batch, axis),
                      .extent = x.dims()[axis],
                      .slice = extent(x, axis + 1, x.rank()),
                      .count = extent(indices, batch, indices.rank())};
  if (!call.input(0).dense && !set_steps(params, call.input(0), axis)) call.make_dense(0);
  if (call.input(0).dense) {
    params.extent_step = params.slice;
    params.row_step = saturating_mul(params.extent, params.slice);
  }
  call.make(call.input(0).dtype, Shape(dims));
  call.params(params);
}

NdParams nd_params(OpCall& call, const Shape& indices, const Shape& into) {
  NdParams params;
  params.depth = indices.rank() <= 1 && call.spec().id == op_id("SparseToDense")
                     ? 1
                     : indices.dims()[indices.rank() - 1];
  call.check(params.depth <= static_cast<std::int64_t>(into.rank()),
             "indices {} have {} coordinates, {} has only {} axes", indices, params.depth, into,
             into.rank());
  const auto depth = static_cast<std::size_t>(params.depth);
  params.slice = extent(into, depth, into.rank());
  params.count = params.depth == 0 ? 1 : elements(indices) / params.depth;
  std::int64_t step = 1;
  for (std::size_t i = depth; i-- > 0;) {
    params.extent[i] = into.dims()[i];
    params.step[i] = step;
    step = saturating_mul(step, into.dims()[i]);
  }
  return params;
}

void gather_nd(OpCall& call) {
  call.convert_input(1, DType::kInt32);
  const Shape& x = call.input(0).shape;
  const Shape& indices = call.input(1).shape;
  call.check(x.rank() >= 1 && indices.rank() >= 1,
             "params {} and indices {} were given, ranks of at least 1 are allowed", x, indices);
  NdParams params = nd_params(call, indices, x);
  IntList dims;
  for (std::size_t i = 0; i + 1 < indices.rank(); ++i) dims.push_back(indices.dims()[i]);
  for (auto i = static_cast<std::size_t>(params.depth); i < x.rank(); ++i) {
    dims.push_back(x.dims()[i]);
  }
  call.check(dims.size() <= kMaxRank, "the result has rank {}, at most {} is allowed", dims.size(),
             kMaxRank);
  params.count = extent(indices, 0, indices.rank() - 1);
  call.make(call.input(0).dtype, Shape(dims));
  call.params(params);
}

// Updates are one for each index, of a slice's shape, or a single value.
void scatter_into(OpCall& call, std::size_t indices, std::size_t updates, const Shape& into) {
  call.convert_input(indices, DType::kInt32);
  const Shape& index_shape = call.input(indices).shape;
  const Shape& update_shape = call.input(updates).shape;
  NdParams params = nd_params(call, index_shape, into);
  const std::int64_t given = elements(update_shape);
  params.one_update = update_shape.rank() == 0;
  call.check(params.one_update || given == saturating_mul(params.count, params.slice),
             "updates {} were given, {} slices of {} elements are needed", update_shape,
             params.count, params.slice);
  call.make(call.input(updates).dtype, into);
  call.params(params);
}

void scatter_nd(OpCall& call) {
  call.check(call.input(0).shape.rank() >= 1, "indices of rank {} were given, at least 1 is needed",
             call.input(0).shape.rank());
  scatter_into(call, 0, 1, call.shape(attribute_at("ScatterNd", "shape")));
}

void tensor_scatter_update(OpCall& call) {
  call.check(call.input(1).shape.rank() >= 1, "indices of rank {} were given, at least 1 is needed",
             call.input(1).shape.rank());
  call.convert_input(2, call.input(0).dtype);
  scatter_into(call, 1, 2, call.input(0).shape);
}

void sparse_to_dense(OpCall& call) {
  call.check(elements(call.input(2).shape) == 1,
             "the default value has shape {}, a scalar is needed", call.input(2).shape);
  call.convert_input(2, call.input(1).dtype);
  scatter_into(call, 0, 1, call.shape(attribute_at("SparseToDense", "outputShape")));
}

void where(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  if (!shape.empty()) {
    for (const std::int64_t dim : shape.dims()) check_positions(call, dim);
  }
  call.convert_input(0, DType::kBool);
}

}  // namespace

void add_indexing(MeaningTable& table) {
  table.set(op_id("GatherV2"), gather, Strided::kFirst, Data::kChecked);
  table.set(op_id("GatherNd"), gather_nd, Strided::kNone, Data::kChecked);
  table.set(op_id("ScatterNd"), scatter_nd);
  table.set(op_id("TensorScatterUpdate"), tensor_scatter_update);
  table.set(op_id("SparseToDense"), sparse_to_dense);
  table.set(op_id("Where"), where);
}

}  // namespace ebb::ops
