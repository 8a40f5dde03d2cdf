// Counting and adding by number: bins and segments.
#include "ops/counting.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void refuse_complex(const OpCall& call, std::size_t input) {
  if (call.input(input).dtype == DType::kComplex64) call.fail_dtype(input, "a real one");
}

// x, weights: as many as x, or none, where each counts 1.
BincountWalk bins(OpCall& call, std::size_t most_rank) {
  const Operand& x = call.input(0);
  const Operand& weights = call.input(1);
  if (x.dtype != DType::kInt32) call.fail_dtype(0, "int32");
  refuse_complex(call, 1);
  call.check(x.shape.rank() >= 1 && x.shape.rank() <= most_rank,
             "x is {}, rank 1 to {} is allowed", x.shape.to_string(), most_rank);
  const std::int64_t size = call.integer(0);
  call.check(size >= 0, "size was {}, 0 and more are allowed", size);
  const bool weighted = elements(weights.shape) > 0;
  call.check(!weighted || weights.shape == x.shape,
             "weights are {}, {} as x or no elements are allowed", weights.shape.to_string(),
             x.shape.to_string());
  const bool one = x.shape.rank() == 1;
  return {.rows = one ? 1 : x.shape.dims()[0],
          .length = x.shape.dims().back(),
          .size = size,
          .weighted = weighted};
}

void bincount(OpCall& call) {
  const BincountWalk walk = bins(call, 1);
  call.params(walk);
  call.make(call.input(1).dtype, Shape{walk.size});
}

void dense_bincount(OpCall& call) {
  BincountWalk walk = bins(call, 2);
  walk.binary = call.boolean(1);
  call.params(walk);
  const bool one = call.input(0).shape.rank() == 1;
  call.make(call.input(1).dtype, one ? Shape{walk.size} : Shape{walk.rows, walk.size});
}

// An id outside of [0, numSegments) adds to no segment.
void unsorted_segment_sum(OpCall& call) {
  const Operand& x = call.input(0);
  const Operand& ids = call.input(1);
  refuse_complex(call, 0);
  if (ids.dtype != DType::kInt32) call.fail_dtype(1, "int32");
  const std::size_t rank = ids.shape.rank();
  call.check(rank >= 1 && rank <= x.shape.rank() &&
                 std::ranges::equal(ids.shape.dims(), x.shape.dims().first(rank)),
             "ids are {}, the first extents of {} are allowed", ids.shape.to_string(),
             x.shape.to_string());
  const std::int64_t segments = call.integer(0);
  call.check(segments >= 0, "numSegments was {}, 0 and more are allowed", segments);
  IntList dims{segments};
  for (std::size_t i = rank; i < x.shape.rank(); ++i) dims.push_back(x.shape.dims()[i]);
  call.params(SegmentSumWalk{.ids = elements(ids.shape),
                             .length = extent(x.shape, rank, x.shape.rank()),
                             .segments = segments});
  call.make(x.dtype, Shape(dims));
}

}  // namespace

void add_counting(MeaningTable& table) {
  table.set(op_id("Bincount"), bincount);
  table.set(op_id("DenseBincount"), dense_bincount);
  table.set(op_id("UnsortedSegmentSum"), unsorted_segment_sum);
}

}  // namespace ebb::ops
