// Reductions, scans and counts.
#include "ops/params/reductions.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/copy_plan.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

using Reduced = std::array<bool, kMaxRank>;

consteval std::size_t in_reductions(std::string_view name) {
  return attribute_of_all(name, "Sum", "Prod", "Mean", "Max", "Min", "All", "Any");
}
constexpr std::size_t kAxes = in_reductions("axes");
constexpr std::size_t kKeepDims = in_reductions("keepDims");
constexpr std::size_t kArgAxis = attribute_of_all("axis", "ArgMax", "ArgMin");
constexpr std::size_t kScanAxis = attribute_of_all("axis", "Cumsum", "Cumprod");
constexpr std::size_t kExclusive = attribute_of_all("exclusive", "Cumsum", "Cumprod");
constexpr std::size_t kReverse = attribute_of_all("reverse", "Cumsum", "Cumprod");
constexpr std::size_t kBins = attribute_of_all("size", "Bincount", "DenseBincount");
constexpr std::size_t kSegments = attribute_at("UnsortedSegmentSum", "numSegments");

Reduced reduced_axes(OpCall& call, const Shape& shape) {
  Reduced reduced{};
  for (const std::int64_t axis : call.integers(kAxes)) {
    reduced[checked_axis(call, axis, shape.rank())] = true;
  }
  return reduced;
}

Shape reduced_shape(const Shape& shape, const Reduced& reduced, bool keep) {
  IntList dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!reduced[i]) {
      dims.push_back(shape.dims()[i]);
    } else if (keep) {
      dims.push_back(1);
    }
  }
  return Shape(dims);
}

// Axes of one element are on either side, as it suits.
ReduceParams dense_params(const Shape& shape, const Reduced& reduced) {
  ReduceParams params;
  int phase = 0;  // before, in, after the reduced axes
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t dim = shape.dims()[i];
    if (dim == 1) continue;
    if (reduced[i]) {
      params.gathers = params.gathers || phase == 2;
      phase = 1;
      params.count = saturating_mul(params.count, dim);
    } else {
      phase = phase == 0 ? 0 : 2;
      std::int64_t& kept = phase == 0 ? params.outer : params.inner;
      kept = saturating_mul(kept, dim);
    }
  }
  return params;
}

void gather_axes(ReduceParams& params, const Shape& shape, const Reduced& reduced) {
  const auto steps = dense_strides(shape);
  std::int64_t to = elements(shape);
  for (const bool last : {false, true}) {
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (reduced[i] != last) continue;
      to = shape.dims()[i] == 0 ? 0 : to / shape.dims()[i];
      params.plan.add(shape.dims()[i], steps[i], to);
    }
  }
  params.outer = saturating_mul(params.outer, params.inner);
  params.inner = 1;
  params.plan.simplify();
}

// A strided operand as [outer, count, inner], where it is a dense one with its axes in another
// order, and the axes that stay are in the order of the result. Else the operand is made dense.
ReduceParams strided_params(OpCall& call, const Reduced& reduced) {
  const Operand& x = call.input(0);
  if (x.dense) return dense_params(x.shape, reduced);
  std::array<std::size_t, kMaxRank> order{};  // by stride, the longest first
  for (std::size_t i = 0; i < x.shape.rank(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(x.shape.rank()),
                   [&](std::size_t a, std::size_t b) { return x.strides[a] > x.strides[b]; });
  IntList dims;
  Strides strides{};
  Reduced as_they_lie{};
  bool in_order = true;
  std::size_t last = 0;
  for (std::size_t i = 0; i < x.shape.rank(); ++i) {
    const std::size_t axis = order[i];
    dims.push_back(x.shape.dims()[axis]);
    strides[i] = x.strides[axis];
    as_they_lie[i] = reduced[axis];
    if (reduced[axis] || dims[i] == 1) continue;
    in_order = in_order && axis >= last;
    last = axis;
  }
  const ReduceParams params = dense_params(Shape(dims), as_they_lie);
  if (in_order && !params.gathers && is_dense(Shape(dims), strides)) return params;
  call.make_dense(0);
  return dense_params(x.shape, reduced);
}

template <typename ResultOf>
void reduce_as(OpCall& call, ResultOf result_of) {
  const Operand& x = call.input(0);
  const Reduced reduced = reduced_axes(call, x.shape);
  ReduceParams params = strided_params(call, reduced);
  if (params.gathers) gather_axes(params, x.shape, reduced);
  call.make(result_of(x.dtype), reduced_shape(x.shape, reduced, call.boolean(kKeepDims)));
  call.params(params);
}

DType summed(DType dtype) { return dtype == DType::kBool ? DType::kInt32 : dtype; }

bool is_integer(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kInt32 || dtype == DType::kInt64 ||
         dtype == DType::kUint8 || dtype == DType::kInt8;
}

void sum(OpCall& call) { reduce_as(call, summed); }

void mean(OpCall& call) {
  if (is_integer(call.input(0).dtype)) call.convert_input(0, DType::kFloat32);
  reduce_as(call, [](DType dtype) { return dtype; });
}

void extreme(OpCall& call) {
  if (call.input(0).dtype == DType::kComplex64) call.fail_dtype(0, "a real one");
  reduce_as(call, [](DType dtype) { return dtype; });
}

void logical(OpCall& call) {
  if (call.input(0).dtype != DType::kBool) call.convert_input(0, DType::kBool);
  reduce_as(call, [](DType dtype) { return dtype; });
}

void arg_extreme(OpCall& call) {
  const Operand& x = call.input(0);
  if (x.dtype == DType::kComplex64) call.fail_dtype(0, "a real one");
  const std::size_t axis = checked_axis(call, call.integer(kArgAxis), x.shape.rank());
  Reduced reduced{};
  reduced[axis] = true;
  const Shape shape = reduced_shape(x.shape, reduced, false);
  call.check(x.shape.dims()[axis] > 0 || elements(shape) == 0,
             "axis {} of {} has no elements, at least one is needed", axis, x.shape);
  if (make_if_empty(call, DType::kInt32, shape)) return;
  check_positions(call, x.shape.dims()[axis]);
  call.params(strided_params(call, reduced));
  call.make(DType::kInt32, shape);
}

void scan(OpCall& call) {
  const Operand& x = call.input(0);
  if (x.dtype == DType::kBool) call.convert_input(0, DType::kInt32);
  const std::size_t axis = checked_axis(call, call.integer(kScanAxis), x.shape.rank());
  call.make(call.input(0).dtype, x.shape);
  call.params(ScanParams{.outer = extent(x.shape, 0, axis),
                         .count = x.shape.dims()[axis],
                         .inner = extent(x.shape, axis + 1, x.shape.rank()),
                         .exclusive = call.boolean(kExclusive),
                         .reversed = call.boolean(kReverse)});
}

void bincount(OpCall& call) {
  call.convert_input(0, DType::kInt32);
  const Operand& x = call.input(0);
  const Operand& weights = call.input(1);
  const std::int64_t size = call.integer(kBins);
  const std::size_t most = call.spec().id == op_id("Bincount") ? 1 : 2;
  call.check(x.shape.rank() >= 1 && x.shape.rank() <= most,
             "rank {} was given, 1 to {} are allowed", x.shape.rank(), most);
  call.check(size >= 0, "size {} was given, at least 0 is allowed", size);
  call.check(elements(weights.shape) == 0 || weights.shape == x.shape,
             "weights are {}, {} or none are allowed", weights.shape, x.shape);
  IntList dims(x.shape.dims());
  dims[dims.size() - 1] = size;
  call.make(weights.dtype, Shape(dims));
}

void segment_sum(OpCall& call) {
  call.convert_input(1, DType::kInt32);
  const Operand& x = call.input(0);
  const Operand& ids = call.input(1);
  const std::size_t rank = ids.shape.rank();
  bool alike = rank >= 1 && rank <= x.shape.rank();
  for (std::size_t i = 0; alike && i < rank; ++i) alike = ids.shape.dims()[i] == x.shape.dims()[i];
  call.check(alike, "segment ids are {}, the first axes of {} are needed", ids.shape, x.shape);
  const std::int64_t segments = call.integer(kSegments);
  call.check(segments >= 0, "{} segments were given, at least 0 are allowed", segments);
  IntList dims{segments};
  for (std::size_t i = rank; i < x.shape.rank(); ++i) dims.push_back(x.shape.dims()[i]);
  call.make(summed(x.dtype), Shape(dims));
}

}  // namespace

void add_reductions(MeaningTable& table) {
  table.set(op_id("Sum"), sum, Strided::kFirst);
  table.set(op_id("Prod"), sum, Strided::kFirst);
  table.set(op_id("Mean"), mean, Strided::kFirst);
  table.set(op_id("Max"), extreme, Strided::kFirst);
  table.set(op_id("Min"), extreme, Strided::kFirst);
  table.set(op_id("All"), logical, Strided::kFirst);
  table.set(op_id("Any"), logical, Strided::kFirst);
  table.set(op_id("ArgMax"), arg_extreme, Strided::kFirst);
  table.set(op_id("ArgMin"), arg_extreme, Strided::kFirst);
  table.set(op_id("Cumsum"), scan);
  table.set(op_id("Cumprod"), scan);
  table.set(op_id("Bincount"), bincount, Strided::kNone, Data::kChecked);
  table.set(op_id("DenseBincount"), bincount, Strided::kNone, Data::kChecked);
  table.set(op_id("UnsortedSegmentSum"), segment_sum);
}

}  // namespace ebb::ops
