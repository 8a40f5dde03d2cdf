// Sorting: the largest, the distinct, and where a value belongs in a sorted row.
#include "ops/params/sorting.hpp"

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

void refuse_complex(const OpCall& call, std::size_t input) {
  if (call.input(input).dtype == DType::kComplex64) call.fail_dtype(input, "a real one");
}

void top_k(OpCall& call) {
  refuse_complex(call, 0);
  const Operand& x = call.input(0);
  call.check(x.shape.rank() >= 1, "a scalar was given, rank 1 and more are allowed");
  const std::size_t last = x.shape.rank() - 1;
  const std::int64_t length = x.shape.dims()[last];
  const std::int64_t k = call.integer(attribute_at("TopK", "k"));
  call.check(k >= 0 && k <= length, "k was {}, 0 to {} are allowed for shape {}", k, length,
             x.shape);
  if (k > 0) check_positions(call, length);
  IntList dims(x.shape.dims());
  dims[last] = k;
  call.params(TopKParams{.rows = extent(x.shape, 0, last),
                         .length = length,
                         .k = k,
                         .sorted = call.boolean(attribute_at("TopK", "sorted"))});
  call.make(x.dtype, Shape(dims));
  call.make(DType::kInt32, Shape(dims));
}

// The kernel makes the outputs: how many values are distinct is in the data.
void unique(OpCall& call) {
  const Shape& shape = call.input(0).shape;
  call.check(shape.rank() >= 1, "a scalar was given, rank 1 and more are allowed");
  const std::size_t axis =
      checked_axis(call, call.integer(attribute_at("Unique", "axis")), shape.rank());
  call.params(UniqueParams{.axis = axis,
                           .before = extent(shape, 0, axis),
                           .extent = shape.dims()[axis],
                           .after = extent(shape, axis + 1, shape.rank())});
}

void search(OpCall& call, bool right) {
  const Operand& sorted = call.input(0);
  const Operand& values = call.input(1);
  for (std::size_t i = 0; i < 2; ++i) refuse_complex(call, i);
  call.check(sorted.dtype == values.dtype, "dtypes {} and {} were given, they must be alike",
             name_of(sorted.dtype), name_of(values.dtype));
  call.check(sorted.shape.rank() == 2 && values.shape.rank() == 2 &&
                 sorted.shape.dims()[0] == values.shape.dims()[0],
             "shapes {} and {} were given, two matrices with as many rows are allowed",
             sorted.shape, values.shape);
  if (!values.shape.empty()) check_positions(call, checked_add(sorted.shape.dims()[1], 1));
  call.params(SearchParams{.rows = sorted.shape.dims()[0],
                           .length = sorted.shape.dims()[1],
                           .values = values.shape.dims()[1],
                           .right = right});
  call.make(DType::kInt32, values.shape);
}

void lower_bound(OpCall& call) { search(call, false); }
void upper_bound(OpCall& call) { search(call, true); }
void search_sorted(OpCall& call) {
  search(call, call.boolean(attribute_at("SearchSorted", "right")));
}

}  // namespace

void add_sorting(MeaningTable& table) {
  table.set(op_id("TopK"), top_k);
  table.set(op_id("Unique"), unique);
  table.set(op_id("LowerBound"), lower_bound);
  table.set(op_id("UpperBound"), upper_bound);
  table.set(op_id("SearchSorted"), search_sorted);
}

}  // namespace ebb::ops
