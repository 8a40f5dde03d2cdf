// Gradients of gathers and scatters: each is the other's. What is kept is the indices.
#include <array>

#include "ebb/base/checked.hpp"
#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;

std::int64_t extent(const Shape& shape, std::size_t from, std::size_t to) {
  std::int64_t count = 1;
  for (std::size_t i = from; i < to; ++i) count = checked_mul(count, shape.dims()[i]);
  return count;
}

// indices [batch, count] as positions among the extents of all batches, flat.
Tensor positions(const Tensor& indices, std::int64_t batch, std::int64_t count,
                 std::int64_t extent) {
  const Tensor rows = ops::reshape(indices, {batch, count});
  if (batch == 1) return ops::reshape(rows, {count});
  const Tensor first =
      ops::reshape(ops::range(0, static_cast<double>(checked_mul(batch, extent)),
                              {.step = static_cast<double>(extent), .dtype = DType::kInt32}),
                   {batch, 1});
  return ops::reshape(ops::add(ops::cast(rows, DType::kInt32), first), {checked_mul(batch, count)});
}

// x is [batch, outer, extent, slice] and dy [batch, outer, count, slice]: the rows of dy are summed
// to where they came from.
void gather(Backprop& call) {
  const Shape& x = call.x_shape();
  const Shape& indices = call.x_shape(1);
  const std::size_t axis = call.axis(attribute_at("GatherV2", "axis"), x.rank());
  const std::size_t axes = call.axis(attribute_at("GatherV2", "batchDims"), indices.rank());
  if (x.empty() || call.y_shape().empty()) return call.give(0, zeros(x, call.x_dtype()));
  const std::int64_t batch = extent(x, 0, axes), outer = extent(x, axes, axis);
  const std::int64_t from = x.dims()[axis], slice = extent(x, axis + 1, x.rank());
  const std::int64_t count = extent(indices, axes, indices.rank());
  const std::int64_t row = checked_mul(outer, slice);
  Tensor rows = ops::reshape(call.dy(), {batch, outer, count, slice});
  if (outer != 1) rows = ops::transpose(rows, {0, 2, 1, 3});
  rows = ops::reshape(rows, {checked_mul(batch, count), row});
  Tensor dx = ops::unsorted_segment_sum(rows, positions(call.x(1), batch, count, from),
                                        checked_mul(batch, from));
  if (outer != 1) {
    dx = ops::transpose(ops::reshape(dx, {batch, from, outer, slice}), {0, 2, 1, 3});
  }
  call.give(0, reshaped(dx, x));
}

void gather_nd(Backprop& call) {
  call.give(0, ops::scatter_nd(call.x(1), call.dy(), dims_of(call.x_shape())));
}

// Updates may be one value for all indices.
Tensor gathered(const Tensor& dy, const Tensor& indices, const Shape& updates) {
  const Tensor rows = ops::gather_nd(dy, indices);
  if (updates.rank() != 0) return reshaped(rows, updates);
  return ops::sum(ops::reshape(rows, {-1}), {0});
}

void scatter_nd(Backprop& call) { call.give(1, gathered(call.dy(), call.x(0), call.x_shape(1))); }

// Where an index comes twice, each of its updates is said to be the one that stayed.
void tensor_scatter_update(Backprop& call) {
  const Tensor& indices = call.x(1);
  if (call.wants(0)) {
    const Tensor none = ops::fill({}, 0, call.x_dtype());
    call.give(0, ops::tensor_scatter_update(call.dy(), indices, none));
  }
  if (call.wants(2)) call.give(2, gathered(call.dy(), indices, call.x_shape(2)));
}

// What is not set by a value is by the default.
void sparse_to_dense(Backprop& call) {
  Tensor indices = call.x(0);
  if (call.x_shape(0).rank() <= 1) indices = ops::reshape(indices, {-1, 1});
  const Tensor values = gathered(call.dy(), indices, call.x_shape(1));
  if (call.wants(1)) call.give(1, values);
  if (!call.wants(2)) return;
  const Tensor set =
      ops::sparse_to_dense(call.x(0), ops::fill({}, 0, call.x_dtype(2)),
                           ops::fill({}, 1, call.x_dtype(2)), dims_of(call.y_shape()));
  const Tensor rest = ops::multiply(call.dy(), set);
  call.give(2, reshaped(ops::sum(ops::reshape(rest, {-1}), {0}), call.x_shape(2)));
}

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"GatherV2", gather, {.inputs = 2}},
    {"GatherNd", gather_nd, {.inputs = 2}},
    {"ScatterNd", scatter_nd, {.inputs = 1}},
    {"TensorScatterUpdate", tensor_scatter_update, {.inputs = 2}},
    {"SparseToDense", sparse_to_dense, {.inputs = 1}},
    constant("Where", "its result is coordinates"),
});
// clang-format on
static_assert(covers(kRows, OfFamily{"indexing"}));

}  // namespace

std::span<const GradientRow> of_indexing() noexcept { return kRows; }

}  // namespace ebb::gradients
