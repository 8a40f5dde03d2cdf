// Sparse tensors: indices [n,rank], values [n], dense shape [rank]. What comes out depends on the
// indices, so the kernels make the outputs; messages about data are in TensorFlow's words.
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

void need_int32(const OpCall& call, std::size_t input) {
  if (call.input(input).dtype != DType::kInt32) call.fail_dtype(input, "int32");
}

void need_rank(const OpCall& call, std::size_t input, std::size_t rank) {
  const Shape& shape = call.input(input).shape;
  call.check(shape.rank() == rank, "input {} is {}, rank {} is allowed", input, shape, rank);
}

// indices, values, denseShape, defaultValue
void fill_empty_rows(OpCall& call) {
  for (const std::size_t input : {0, 2}) need_int32(call, input);
  need_rank(call, 0, 2);
  need_rank(call, 1, 1);
  need_rank(call, 2, 1);
  need_rank(call, 3, 0);
  const Shape& indices = call.input(0).shape;
  const Shape& values = call.input(1).shape;
  const Shape& dense = call.input(2).shape;
  call.check(indices.dims()[0] == values.dims()[0], "there are {} indices and {} values",
             indices.dims()[0], values.dims()[0]);
  call.check(indices.dims()[1] == dense.dims()[0] && dense.dims()[0] > 0,
             "indices are {} for a dense shape of rank {}, at least 1 and as many are allowed",
             indices, dense.dims()[0]);
  call.check(call.input(3).dtype == call.input(1).dtype,
             "the default value is {} and values are {}, they must be alike",
             name_of(call.input(3).dtype), name_of(call.input(1).dtype));
}

// indices, shape, newShape
void reshape(OpCall& call) {
  for (const std::size_t input : {0, 1, 2}) need_int32(call, input);
  need_rank(call, 0, 2);
  need_rank(call, 1, 1);
  need_rank(call, 2, 1);
  call.check(call.input(0).shape.dims()[1] == call.input(1).shape.dims()[0],
             "indices are {} for a shape of rank {}", call.input(0).shape,
             call.input(1).shape.dims()[0]);
}

// data, indices, segmentIds
void segment_reduction(OpCall& call) {
  const Shape& data = call.input(0).shape;
  if (call.input(0).dtype == DType::kComplex64) call.fail_dtype(0, "a real one");
  call.check(data.rank() >= 1, "a scalar was given, data should be at least 1 dimensional");
  for (const std::size_t input : {1, 2}) {
    need_int32(call, input);
    need_rank(call, input, 1);
  }
  call.check(call.input(1).shape == call.input(2).shape, "there are {} indices and {} segment ids",
             call.input(1).shape.dims()[0], call.input(2).shape.dims()[0]);
}

}  // namespace

void add_sparse(MeaningTable& table) {
  table.set(op_id("SparseFillEmptyRows"), fill_empty_rows);
  table.set(op_id("SparseReshape"), reshape);
  table.set(op_id("SparseSegmentMean"), segment_reduction);
  table.set(op_id("SparseSegmentSum"), segment_reduction);
}

}  // namespace ebb::ops
