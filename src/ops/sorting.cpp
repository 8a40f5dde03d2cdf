// Sorting, searching, and what is there once.
#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void refuse_complex(OpCall& call, std::size_t input) {
  if (call.input(input).dtype == DType::kComplex64) call.fail_dtype(input, "a real one");
}

void top_k(OpCall& call) {
  refuse_complex(call, 0);
  const Shape& x = call.input(0).shape;
  call.check(x.rank() >= 1, "rank 0 was given, at least 1 is allowed");
  const std::int64_t most = x.dims()[x.rank() - 1], k = call.integer(0);
  call.check(k >= 0 && k <= most, "k {} was given, 0 to {} are allowed", k, most);
  IntList dims(x.dims());
  dims[dims.size() - 1] = k;
  const Shape shape(dims);
  call.make(call.input(0).dtype, shape);
  call.make(DType::kInt32, shape);
}

// The kernel knows how many there are.
void unique(OpCall& call) { checked_axis(call, call.integer(0), call.input(0).shape.rank()); }

void search(OpCall& call) {
  refuse_complex(call, 0);
  call.convert_input(1, call.input(0).dtype);
  const Shape& sorted = call.input(0).shape;
  const Shape& values = call.input(1).shape;
  const std::size_t rank = sorted.rank();
  bool alike = rank >= 1 && rank == values.rank();
  for (std::size_t i = 0; alike && i + 1 < rank; ++i) alike = sorted.dims()[i] == values.dims()[i];
  call.check(alike, "sequences {} and values {} were given, they may differ in the last axis only",
             sorted.to_string(), values.to_string());
  call.make(DType::kInt32, values);
}

}  // namespace

void add_sorting(MeaningTable& table) {
  table.set(op_id("TopK"), top_k);
  table.set(op_id("Unique"), unique);
  table.set(op_id("LowerBound"), search);
  table.set(op_id("UpperBound"), search);
  table.set(op_id("SearchSorted"), search);
}

}  // namespace ebb::ops
