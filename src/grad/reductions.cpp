// Gradients of reductions, scans and counts.
// arithmetic of this file: of tensors, and of axes
#include <algorithm>
#include <array>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;
using ops::attribute_of_all;

constexpr std::size_t kAxes = attribute_of_all("axes", "Sum", "Prod", "Mean", "Max", "Min");
constexpr std::size_t kScanAxis = attribute_of_all("axis", "Cumsum", "Cumprod");
constexpr std::size_t kExclusive = attribute_of_all("exclusive", "Cumsum", "Cumprod");
constexpr std::size_t kReverse = attribute_of_all("reverse", "Cumsum", "Cumprod");

// The shape of the result, had its reduced axes been kept.
Dims kept_dims(const Backprop& call) {
  return with_ones(call.x_shape(), call.axes(kAxes, call.x_shape().rank()));
}

// Of the result, to each element that it was made of.
Tensor spread(const Backprop& call, const Tensor& of_result) {
  return ops::broadcast_to(ops::reshape(of_result, kept_dims(call)), dims_of(call.x_shape()));
}

void sum(Backprop& call) { call.give(0, spread(call, call.dy())); }

void mean(Backprop& call) {
  const double results = static_cast<double>(std::max<std::int64_t>(count_of(call.y_shape()), 1));
  const double count = static_cast<double>(count_of(call.x_shape())) / results;
  call.give(0, spread(call, call.dy() / count));
}

// Those that are the extreme share it.
void extreme(Backprop& call) {
  const Tensor chosen = mask(ops::equal(call.x(), spread(call, call.y())), call.x_dtype());
  const Tensor count = ops::sum(chosen, call.integers(kAxes), {.keep_dims = true});
  const Tensor share = ops::reshape(call.dy(), kept_dims(call)) / count;
  call.give(0, chosen * share);
}

// x as [rows, count], the reduced axes last, and the way back.
struct Rows {
  Dims order;   // axes of x: those that stay, then those reduced
  Dims turned;  // their extents
  Tensor x;
};

Rows rows_of(const Backprop& call) {
  const Shape& shape = call.x_shape();
  const Dims reduced = call.axes(kAxes, shape.rank());
  Rows made;
  std::int64_t rows = 1, count = 1;
  for (const bool last : {false, true}) {
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      const auto axis = static_cast<std::int64_t>(i);
      if ((std::ranges::find(reduced, axis) != reduced.end()) != last) continue;
      made.order.push_back(axis);
      made.turned.push_back(shape.dims()[i]);
      (last ? count : rows) *= shape.dims()[i];
    }
  }
  made.x = ops::reshape(ops::transpose(call.x(), made.order), {rows, count});
  return made;
}

// Of each element the product of all others: those before times those after.
void prod(Backprop& call) {
  if (call.x_shape().empty()) return call.give(0, zeros(call.x_shape(), call.x_dtype()));
  const Rows rows = rows_of(call);
  const Tensor others = ops::cumprod(rows.x, {.axis = 1, .exclusive = true}) *
                        ops::cumprod(rows.x, {.axis = 1, .exclusive = true, .reverse = true});
  const Tensor slopes = others * ops::reshape(call.dy(), {-1, 1});
  Dims back(rows.order.size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    back[static_cast<std::size_t>(rows.order[i])] = static_cast<std::int64_t>(i);
  }
  call.give(0, ops::transpose(ops::reshape(slopes, rows.turned), back));
}

void cumsum(Backprop& call) {
  call.give(0, ops::cumsum(call.dy(), {.axis = call.integer(kScanAxis),
                                       .exclusive = call.boolean(kExclusive),
                                       .reverse = !call.boolean(kReverse)}));
}

// By x[k] it is the product before k, times the sum over i >= k of dy[i] and the product of what is
// between k and i: no division, so zeros are as good as other numbers. The products between are an
// n by n matrix for each row.
Tensor cumprod_slopes(const Tensor& x, const Tensor& dy, std::int64_t n) {
  const DType dtype = x.dtype();
  const Tensor position =
      ops::range(0, static_cast<double>(n), {.step = 1, .dtype = DType::kInt32});
  const Tensor k = ops::reshape(position, {n, 1}), i = ops::reshape(position, {1, n});
  const Tensor after = mask(ops::greater(i, k), dtype),
               from = mask(ops::greater_equal(i, k), dtype);
  const Tensor factors = ops::expand_dims(x, {.dim = 1}) * after + (1 - after);
  const Tensor between = ops::cumprod(factors, {.axis = 2}) * from;
  const Tensor sums = ops::sum(between * ops::expand_dims(dy, {.dim = 1}), {2});
  return ops::cumprod(x, {.axis = 1, .exclusive = true}) * sums;
}

void cumprod(Backprop& call) {
  const Shape& shape = call.x_shape();
  if (shape.empty()) return call.give(0, zeros(shape, call.x_dtype()));
  const std::size_t axis = call.axis(kScanAxis, shape.rank());
  const std::int64_t n = shape.dims()[axis];
  Dims order, turned;  // the axis last; it and the last one change places both ways
  for (std::size_t i = 0; i < shape.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[axis], order.back());
  for (const std::int64_t each : order)
    turned.push_back(shape.dims()[static_cast<std::size_t>(each)]);
  const bool reverse = call.boolean(kReverse);
  const auto as_rows = [&](const Tensor& given) {
    const Tensor rows = ops::reshape(ops::transpose(given, order), {-1, n});
    return reverse ? ops::reverse(rows, {1}) : rows;
  };
  const Tensor x = as_rows(call.x());
  Tensor dy = as_rows(call.dy());
  if (call.boolean(kExclusive)) {  // the result at i + 1 is that of an inclusive one at i
    const std::int64_t rows = dy.shape().dims()[0];
    dy = ops::pad_v2(ops::slice(dy, {0, 1}, {rows, n - 1}), {0, 0, 0, 1});
  }
  Tensor dx = cumprod_slopes(x, dy, n);
  if (reverse) dx = ops::reverse(dx, {1});
  call.give(0, ops::transpose(ops::reshape(dx, turned), order));
}

// The row of each index, zeros for an index that is out of range and was left out.
Tensor gathered(const Tensor& rows, const Tensor& indices, std::int64_t count, std::int64_t axis) {
  const Tensor ids = ops::cast(indices, DType::kInt32);
  const auto number = [](std::int64_t value) {
    return ops::fill({}, static_cast<double>(value), DType::kInt32);
  };
  const Tensor inside =
      ops::logical_and(ops::greater_equal(ids, number(0)), ops::less(ids, number(count)));
  const Tensor safe = ops::maximum(ops::minimum(ids, number(count - 1)), number(0));
  const Tensor found = ops::gather_v2(rows, safe, {.axis = axis, .batch_dims = axis});
  Dims along = dims_of(ids.shape());
  while (along.size() < found.shape().rank()) along.push_back(1);
  const Tensor here = ops::broadcast_to(ops::reshape(inside, along), dims_of(found.shape()));
  return ops::select(here, found, ops::zeros_like(found));
}

void segment_sum(Backprop& call) {
  if (call.y_shape().empty()) return call.give(0, zeros(call.x_shape(), call.x_dtype()));
  call.give(0, gathered(call.dy(), call.x(1), call.y_shape().dims()[0], 0));
}

void bincount(Backprop& call) {
  if (call.x_shape(1).empty() || call.y_shape().empty()) {
    return call.give(1, zeros(call.x_shape(1), call.x_dtype(1)));
  }
  const std::size_t last = call.y_shape().rank() - 1;
  call.give(1, gathered(call.dy(), call.x(0), call.y_shape().dims()[last],
                        static_cast<std::int64_t>(last)));
}

void dense_bincount(Backprop& call) {
  if (call.boolean(attribute_at("DenseBincount", "binaryOutput"))) {
    return call.give(1, zeros(call.x_shape(1), call.x_dtype(1)));
  }
  bincount(call);
}

constexpr std::string_view kTruth = "its result is true or false";
constexpr std::string_view kPositions = "its result is positions";

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    constant("All", kTruth),
    constant("Any", kTruth),
    constant("ArgMax", kPositions),
    constant("ArgMin", kPositions),
    {"Max", extreme, {.inputs = 1, .outputs = 1}},
    complex_too("Mean", mean),
    {"Min", extreme, {.inputs = 1, .outputs = 1}},
    {"Prod", prod, kInput},
    complex_too("Sum", sum),
    {"Cumprod", cumprod, kInput},
    {"Cumsum", cumsum},
    {"Bincount", bincount, {.inputs = 1}},
    {"DenseBincount", dense_bincount, {.inputs = 1}},
    {"UnsortedSegmentSum", segment_sum, {.inputs = 2}},
});
// clang-format on
static_assert(covers(kRows, OfFamily{"reductions"}));

}  // namespace

std::span<const GradientRow> of_reductions() noexcept { return kRows; }

}  // namespace ebb::gradients
