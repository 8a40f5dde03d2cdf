// Random numbers: the same seed gives the same numbers.
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void make_real(OpCall& call) {
  call.check(call.dtype(3) != DType::kComplex64, "dtype complex64 was given, a real one is allowed");
  call.make(call.dtype(3), call.shape(0));
}

void uniform(OpCall& call) {
  call.check(call.number(1) <= call.number(2), "the range was {} to {}, its end is before its start",
             call.number(1), call.number(2));
  make_real(call);
}

void normal(OpCall& call) {
  call.check(call.number(2) >= 0, "standardDeviation was {}, 0 and more are allowed",
             call.number(2));
  make_real(call);
}

void multinomial(OpCall& call) {
  const Operand& logits = call.input(0);
  if (logits.dtype == DType::kComplex64) call.fail_dtype(0, "a real one");
  call.check(logits.shape.rank() == 2, "logits are {}, rank 2 is allowed",
             logits.shape.to_string());
  const std::int64_t samples = call.integer(0);
  call.check(samples >= 0, "numSamples was {}, 0 and more are allowed", samples);
  const std::int64_t rows = logits.shape.dims()[0];
  call.check(logits.shape.dims()[1] > 0 || rows * samples == 0,
             "logits are {}, at least one outcome is needed", logits.shape.to_string());
  call.convert_input(0, DType::kFloat32);
  call.make(DType::kInt32, Shape{rows, samples});
}

}  // namespace

void add_random(MeaningTable& table) {
  table.set(op_id("RandomUniform"), uniform);
  table.set(op_id("RandomNormal"), normal);
  table.set(op_id("Multinomial"), multinomial);
}

}  // namespace ebb::ops
