// Complex numbers and signals: transforms run over the last axis.
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void complex(OpCall& call) {
  const Operand& real = call.input(0);
  const Operand& imaginary = call.input(1);
  call.check(real.shape == imaginary.shape, "shapes {} and {} were given, they must be alike",
             real.shape.to_string(), imaginary.shape.to_string());
  for (std::size_t i = 0; i < 2; ++i) {
    if (call.input(i).dtype == DType::kComplex64) call.fail_dtype(i, "a real one");
    call.convert_input(i, DType::kFloat32);
  }
  call.make(DType::kComplex64, call.input(0).shape);
}

void need_complex(OpCall& call) {
  if (call.input(0).dtype != DType::kComplex64) call.fail_dtype(0, "complex64");
}

void part(OpCall& call) {
  need_complex(call);
  call.make(DType::kFloat32, call.input(0).shape);
}

void transform(OpCall& call) {
  need_complex(call);
  const Shape& shape = call.input(0).shape;
  call.check(shape.rank() >= 1, "a scalar was given, rank 1 and more are allowed");
  call.make(DType::kComplex64, shape);
}

}  // namespace

void add_signal(MeaningTable& table) {
  table.set(op_id("Complex"), complex);
  table.set(op_id("Real"), part);
  table.set(op_id("Imag"), part);
  table.set(op_id("FFT"), transform);
  table.set(op_id("IFFT"), transform);
}

}  // namespace ebb::ops
