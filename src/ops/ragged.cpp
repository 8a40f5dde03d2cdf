// Ragged tensors: row splits (where each row begins, and the end), and the values of all rows. What
// comes out depends on the splits, so the kernels make the outputs.
#include <algorithm>
#include <limits>
#include <span>

#include "ebb/base/checked.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kRank = attribute_at("RaggedGather", "outputRaggedRank");

void need_int32(const OpCall& call, std::size_t input) {
  if (call.input(input).dtype != DType::kInt32) call.fail_dtype(input, "int32");
}

// The axes of the indices, but for the last, are rows of equal length: their splits are int32, and
// known before a device looks at anything.
void check_rows(const OpCall& call, std::span<const std::int64_t> dims) {
  std::int64_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < dims.size(); ++axis) {
    rows = checked_mul(rows, dims[axis]);
    const std::int64_t values = std::max(rows, checked_mul(rows, dims[axis + 1]));
    call.check(values <= std::numeric_limits<std::int32_t>::max(),
               "the result has {} values, at most 2^31 - 1 are allowed", values);
  }
}

// nested splits..., dense values, indices
void gather(OpCall& call) {
  const std::size_t splits = call.inputs() - 2;
  for (std::size_t i = 0; i < splits; ++i) {
    need_int32(call, i);
    const Shape& shape = call.input(i).shape;
    call.check(shape.rank() == 1 && shape.dims()[0] > 0,
               "splits {} are {}, a vector of at least 1 is allowed", i, shape);
  }
  need_int32(call, splits + 1);
  call.check(call.input(splits).shape.rank() >= 1,
             "values are a scalar, params.rank must be nonzero");
  const auto rank = static_cast<std::int64_t>(call.input(splits + 1).shape.rank());
  const std::int64_t out = rank + static_cast<std::int64_t>(splits) - 1;  // arithmetic: of inputs
  call.check(call.integer(kRank) == out, "outputRaggedRank was {}, {} is allowed for these indices",
             call.integer(kRank), out);
  check_rows(call, call.input(splits + 1).shape.dims());
}

// starts, limits, deltas: scalars, or vectors of one length
void range(OpCall& call) {
  std::int64_t length = -1;
  const DType dtype = call.input(0).dtype;
  if (dtype == DType::kComplex64 || dtype == DType::kBool) call.fail_dtype(0, "a number");
  for (std::size_t i = 0; i < 3; ++i) {
    const Operand& x = call.input(i);
    call.check(x.dtype == dtype, "input {} is {}, {} as the first is allowed", i, name_of(x.dtype),
               name_of(dtype));
    call.check(x.shape.rank() <= 1, "input {} is {}, a scalar or a vector is allowed", i, x.shape);
    if (x.shape.rank() == 0) continue;
    call.check(length < 0 || length == x.shape.dims()[0],
               "starts, limits, and deltas must have the same shape: {} and {}", length,
               x.shape.dims()[0]);
    length = x.shape.dims()[0];
  }
}

// shape, values, defaultValue, row partitions...
void to_dense(OpCall& call) {
  constexpr std::size_t kFirst = 3;
  const IntList types = call.integers(attribute_at("RaggedTensorToTensor", "rowPartitionTypes"));
  call.check(types.size() == call.inputs() - kFirst, "{} row partitions were given, and {} types",
             call.inputs() - kFirst, types.size());
  need_int32(call, 0);
  call.check(call.input(0).shape.rank() <= 1, "the shape is {}, a scalar or a vector is allowed",
             call.input(0).shape);
  call.check(call.input(1).dtype == call.input(2).dtype,
             "values are {} and the default value {}, they must be alike",
             name_of(call.input(1).dtype), name_of(call.input(2).dtype));
  call.check(call.input(1).shape.rank() >= 1, "values are a scalar, rank 1 and more are allowed");
  for (std::size_t i = 0; i < types.size(); ++i) {
    need_int32(call, kFirst + i);
    const bool allowed = types[i] == 2 || (i == 0 ? types[i] == 0 : types[i] == 1);
    call.check(allowed, "row partition {} is of type {}, ROW_SPLITS (2), {} is allowed", i,
               types[i], i == 0 ? "or FIRST_DIM_SIZE (0)" : "or VALUE_ROWIDS (1)");
    const Shape& shape = call.input(kFirst + i).shape;
    call.check(types[i] == 0 ? shape.elements() == 1 : shape.rank() == 1,
               "row partition {} is {}, a vector (FIRST_DIM_SIZE: one number) is allowed", i,
               shape);
    call.check(types[i] != 2 || shape.dims()[0] > 0, "row partition {} has no splits, 1 is needed",
               i);
  }
}

}  // namespace

void add_ragged(MeaningTable& table) {
  table.set(op_id("RaggedGather"), gather);
  table.set(op_id("RaggedRange"), range);
  table.set(op_id("RaggedTensorToTensor"), to_dense);
}

}  // namespace ebb::ops
