// Tensors from numbers alone, and random ones.
#include <cmath>

#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void fill(OpCall& call) { call.make(call.dtype(2), call.shape(0)); }

void lin_space(OpCall& call) {
  call.check(call.integer(2) > 0, "num {} was given, at least 1 is allowed", call.integer(2));
  call.make(DType::kFloat32, Shape{call.integer(2)});
}

// The step's sign follows start and stop where it was left at 1.
void range(OpCall& call) {
  const double start = call.number(0), stop = call.number(1), step = call.number(2);
  call.check(step != 0, "step 0 was given, another is needed");
  const bool none = start == stop || (start < stop && step < 0) || (stop < start && step > 1);
  const double count = none ? 0 : std::abs(std::ceil((stop - start) / step));
  call.check(count < 0x1p40, "{} elements were asked for, fewer than 2^40 are allowed", count);
  call.make(call.dtype(3), Shape{static_cast<std::int64_t>(count)});
}

void one_hot(OpCall& call) {
  call.convert_input(0, DType::kInt32);
  const Shape& indices = call.input(0).shape;
  call.check(indices.rank() < kMaxRank, "rank {} was given, at most {} is allowed", indices.rank(),
             kMaxRank - 1);
  call.check(call.integer(0) >= 0, "depth {} was given, at least 0 is allowed", call.integer(0));
  IntList dims(indices.dims());
  dims.push_back(call.integer(0));
  call.make(call.dtype(3), Shape(dims));
}

void like(OpCall& call) { call.make(call.input(0).dtype, call.input(0).shape); }

void eye(OpCall& call) {
  call.check(call.integer(0) >= 0 && call.integer(1) >= 0,
             "{} rows and {} columns were given, at least 0 are allowed", call.integer(0),
             call.integer(1));
  call.make(call.dtype(2), Shape{call.integer(0), call.integer(1)});
}

void random_uniform(OpCall& call) { call.make(call.dtype(3), call.shape(0)); }

void random_normal(OpCall& call) {
  call.check(call.number(2) >= 0, "a standard deviation of {} was given, at least 0 is allowed",
             call.number(2));
  call.make(call.dtype(3), call.shape(0));
}

void multinomial(OpCall& call) {
  call.convert_input(0, DType::kFloat32);
  const Shape& logits = call.input(0).shape;
  call.check(logits.rank() == 2 && logits.dims()[1] >= 1,
             "logits {} were given, [batch, classes] with a class at least is allowed",
             logits.to_string());
  call.check(call.integer(0) >= 0, "{} samples were given, at least 0 are allowed",
             call.integer(0));
  call.make(DType::kInt32, Shape{logits.dims()[0], call.integer(0)});
}

}  // namespace

void add_creation(MeaningTable& table) {
  table.set(op_id("Fill"), fill);
  table.set(op_id("LinSpace"), lin_space);
  table.set(op_id("Range"), range);
  table.set(op_id("OneHot"), one_hot);
  table.set(op_id("OnesLike"), like);
  table.set(op_id("ZerosLike"), like);
  table.set(op_id("Eye"), eye);
  table.set(op_id("RandomUniform"), random_uniform);
  table.set(op_id("RandomNormal"), random_normal);
  table.set(op_id("Multinomial"), multinomial);
}

}  // namespace ebb::ops
