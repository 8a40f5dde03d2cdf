// Tensors from numbers alone, and random ones.
#include <cmath>

#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

void fill(OpCall& call) {
  call.make(call.dtype(attribute_at("Fill", "dtype")), call.shape(attribute_at("Fill", "shape")));
}

void lin_space(OpCall& call) {
  const std::int64_t count = call.integer(attribute_at("LinSpace", "num"));
  call.check(count > 0, "num {} was given, at least 1 is allowed", count);
  call.make(DType::kFloat32, Shape{count});
}

// The step's sign follows start and stop where it was left at 1.
void range(OpCall& call) {
  const double start = call.number(attribute_at("Range", "start"));
  const double stop = call.number(attribute_at("Range", "stop"));
  const double step = call.number(attribute_at("Range", "step"));
  call.check(step != 0, "step 0 was given, another is needed");
  const bool none = start == stop || (start < stop && step < 0) || (stop < start && step > 1);
  const double count = none ? 0 : std::abs(std::ceil((stop - start) / step));
  call.check(count < 0x1p40, "{} elements were asked for, fewer than 2^40 are allowed", count);
  call.make(call.dtype(attribute_at("Range", "dtype")), Shape{static_cast<std::int64_t>(count)});
}

void one_hot(OpCall& call) {
  call.convert_input(0, DType::kInt32);
  const Shape& indices = call.input(0).shape;
  call.check(indices.rank() < kMaxRank, "rank {} was given, at most {} is allowed", indices.rank(),
             kMaxRank - 1);
  const std::int64_t depth = call.integer(attribute_at("OneHot", "depth"));
  call.check(depth >= 0, "depth {} was given, at least 0 is allowed", depth);
  IntList dims(indices.dims());
  dims.push_back(depth);
  call.make(call.dtype(attribute_at("OneHot", "dtype")), Shape(dims));
}

void like(OpCall& call) { call.make(call.input(0).dtype, call.input(0).shape); }

void eye(OpCall& call) {
  const std::int64_t rows = call.integer(attribute_at("Eye", "rows"));
  const std::int64_t columns = call.integer(attribute_at("Eye", "columns"));
  call.check(rows >= 0 && columns >= 0, "{} rows and {} columns were given, at least 0 are allowed",
             rows, columns);
  call.make(call.dtype(attribute_at("Eye", "dtype")), Shape{rows, columns});
}

constexpr std::size_t kShape = attribute_of_all("shape", "RandomUniform", "RandomNormal");
constexpr std::size_t kDType = attribute_of_all("dtype", "RandomUniform", "RandomNormal");

void random_uniform(OpCall& call) { call.make(call.dtype(kDType), call.shape(kShape)); }

void random_normal(OpCall& call) {
  const double deviation = call.number(attribute_at("RandomNormal", "standardDeviation"));
  call.check(deviation >= 0, "a standard deviation of {} was given, at least 0 is allowed",
             deviation);
  random_uniform(call);
}

void multinomial(OpCall& call) {
  call.convert_input(0, DType::kFloat32);
  const Shape& logits = call.input(0).shape;
  call.check(logits.rank() == 2 && logits.dims()[1] >= 1,
             "logits {} were given, [batch, classes] with a class at least is allowed", logits);
  check_positions(call, logits.dims()[1]);
  const std::int64_t samples = call.integer(attribute_at("Multinomial", "numSamples"));
  call.check(samples >= 0, "{} samples were given, at least 0 are allowed", samples);
  call.make(DType::kInt32, Shape{logits.dims()[0], samples});
}

void complex(OpCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.convert_input(i, DType::kFloat32);
  }
  call.check(call.input(0).shape == call.input(1).shape,
             "real is {} and imag is {}, they must be alike", call.input(0).shape,
             call.input(1).shape);
  call.make(DType::kComplex64, call.input(0).shape);
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
  table.set(op_id("Complex"), complex, Strided::kAll);
}

}  // namespace ebb::ops
