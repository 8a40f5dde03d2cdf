// Signals: transforms run over the last axis.
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void transform(OpCall& call) {
  if (call.input(0).dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
  const Shape& shape = call.input(0).shape;
  call.check(shape.rank() >= 1, "a scalar was given, rank 1 and more are allowed");
  call.make(DType::kComplex64, shape);
}

}  // namespace

void add_signal(MeaningTable& table) {
  table.set(op_id("FFT"), transform);
  table.set(op_id("IFFT"), transform);
}

}  // namespace ebb::ops
