// Sparse and ragged tensors, as lists of coordinates and of row splits. The shapes of the results
// depend on data: the kernels make them.
#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void check_rank(OpCall& call, std::size_t input, std::size_t rank, std::string_view what) {
  call.check(call.input(input).shape.rank() == rank, "{} {} were given, rank {} is allowed", what,
             call.input(input).shape.to_string(), rank);
}

void fill_empty_rows(OpCall& call) {
  check_rank(call, 0, 2, "indices");
  check_rank(call, 1, 1, "values");
  check_rank(call, 2, 1, "dense shapes");
  call.check(call.input(2).shape.dims()[0] >= 1, "an empty dense shape was given, rows are needed");
  call.check(elements(call.input(3).shape) == 1, "default values {} were given, a scalar is allowed",
             call.input(3).shape.to_string());
  call.check(call.input(0).shape.dims()[0] == call.input(1).shape.dims()[0],
             "{} indices and {} values were given", call.input(0).shape.dims()[0],
             call.input(1).shape.dims()[0]);
  call.convert_input(0, DType::kInt32);
  call.convert_input(2, DType::kInt32);
  call.convert_input(3, call.input(1).dtype);
}

void reshape(OpCall& call) {
  check_rank(call, 0, 2, "indices");
  check_rank(call, 1, 1, "shapes");
  check_rank(call, 2, 1, "new shapes");
  call.check(call.input(0).shape.dims()[1] == call.input(1).shape.dims()[0],
             "indices {} and a shape of {} extents were given", call.input(0).shape.to_string(),
             call.input(1).shape.dims()[0]);
  for (std::size_t i = 0; i < 3; ++i) call.convert_input(i, DType::kInt32);
}

void segment(OpCall& call) {
  call.check(call.input(0).shape.rank() >= 1, "data {} were given, at least rank 1 is allowed",
             call.input(0).shape.to_string());
  check_rank(call, 1, 1, "indices");
  check_rank(call, 2, 1, "segment ids");
  call.check(call.input(1).shape == call.input(2).shape,
             "{} indices and {} segment ids were given, as many of both are needed",
             call.input(1).shape.dims()[0], call.input(2).shape.dims()[0]);
  call.convert_input(1, DType::kInt32);
  call.convert_input(2, DType::kInt32);
}

void ragged_range(OpCall& call) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const Shape& shape = call.input(i).shape;
    call.check(shape.rank() <= 1 && call.input(i).dtype == call.input(0).dtype,
               "input {} is {} {}, a scalar or a vector of one dtype is allowed", i,
               name_of(call.input(i).dtype), shape.to_string());
    if (shape.rank() == 1 && shape.dims()[0] != 1) rows = shape.dims()[0];
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t count = elements(call.input(i).shape);
    call.check(call.input(i).shape.rank() == 0 || count == rows || count == 1,
               "starts, limits, and deltas must have the same shape");
  }
}

void ragged_gather(OpCall& call) {
  const std::size_t last = call.inputs() - 1;
  call.check(call.input(last - 1).shape.rank() >= 1,
             "dense values {} were given, at least rank 1 is allowed",
             call.input(last - 1).shape.to_string());
  call.convert_input(last, DType::kInt32);
  for (std::size_t i = 0; i + 2 < call.inputs(); ++i) {
    check_rank(call, i, 1, "splits");
    call.convert_input(i, DType::kInt32);
  }
}

}  // namespace

void add_sparse(MeaningTable& table) {
  table.set(op_id("SparseFillEmptyRows"), fill_empty_rows);
  table.set(op_id("SparseReshape"), reshape);
  table.set(op_id("SparseSegmentMean"), segment);
  table.set(op_id("SparseSegmentSum"), segment);
  table.set(op_id("RaggedRange"), ragged_range);
  table.set(op_id("RaggedGather"), ragged_gather);
}

}  // namespace ebb::ops
