#include "ops/chain.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/format.hpp"

namespace ebb::ops {
namespace {

constexpr std::array kUnary{
    op_id("Abs"),   op_id("Ceil"),  op_id("ClipByValue"), op_id("Cos"),        op_id("Elu"),
    op_id("Erf"),   op_id("Exp"),   op_id("Expm1"),       op_id("Floor"),      op_id("LeakyRelu"),
    op_id("Log"),   op_id("Log1p"), op_id("Neg"),         op_id("Reciprocal"), op_id("Relu"),
    op_id("Relu6"), op_id("Round"), op_id("Rsqrt"),       op_id("Selu"),       op_id("Sigmoid"),
    op_id("Sign"),  op_id("Sin"),   op_id("Softplus"),    op_id("Sqrt"),       op_id("Square"),
    op_id("Step"),  op_id("Tanh")};
constexpr std::array kBinary{
    op_id("Add"),     op_id("Sub"),     op_id("Multiply"),         op_id("RealDiv"),
    op_id("Maximum"), op_id("Minimum"), op_id("SquaredDifference")};

Shape largest_input(const OpCall& call) {
  std::size_t largest = 0;
  for (std::size_t i = 1; i < call.inputs(); ++i) {
    const Shape& shape = call.input(i).shape;
    const Shape& most = call.input(largest).shape;
    const auto count = elements(shape), best = elements(most);
    if (count > best || (count == best && shape.rank() > most.rank())) largest = i;
  }
  return call.input(largest).shape;
}

void check_step(const OpCall& call, const ChainStep& step, std::size_t place, const Shape& result) {
  const int known = static_cast<int>(call.inputs() + place);  // arithmetic: of 32 at most
  const int operands = chain_operands(step.op);
  call.check(operands > 0, "step {} is operation {}, an elementwise one is allowed", place,
             step.op);
  call.check(step.a >= 0 && step.a < known && (operands == 1 ? step.b == -1 : step.b >= 0) &&
                 step.b < known,
             "step {} takes {} and {}, what is known before it is allowed", place, step.a, step.b);
  const bool whole = step.a >= static_cast<int>(call.inputs()) ||
                     call.input(static_cast<std::size_t>(step.a)).shape == result;
  call.check(operands == 2 || whole, "step {} takes input {}, one of shape {} is allowed", place,
             step.a, result);
}

constexpr OpSpec kChainSpec{.id = kChain,
                            .name = "ElementwiseChain",
                            .least_inputs = 1,
                            .most_inputs = kAny,
                            .outputs = kAny,
                            .inputs = {"x*"},
                            .attributes = {detail::numbers("code")}};
constexpr OpSpec kNormFactorsSpec{.id = kNormFactors,
                                  .name = "NormFactors",
                                  .least_inputs = 1,
                                  .most_inputs = 2,
                                  .outputs = 1,
                                  .inputs = {"variance", "scale?"},
                                  .attributes = {detail::number("varianceEpsilon")}};

}  // namespace

const OpSpec* find_program_op(OpId op) noexcept {
  return op == kChain ? &kChainSpec : op == kNormFactors ? &kNormFactorsSpec : nullptr;
}

int chain_operands(OpId op) noexcept {
  if (std::ranges::find(kUnary, op) != kUnary.end()) return 1;
  return std::ranges::find(kBinary, op) != kBinary.end() ? 2 : 0;
}

bool fits_chain(const Shape& input, const Shape& result) noexcept {
  if (input.rank() > result.rank()) return false;
  if (std::ranges::all_of(input.dims(), [](std::int64_t dim) { return dim == 1; })) return true;
  return std::ranges::equal(input.dims(), result.dims().last(input.rank()));
}

ChainStep chain_step(std::span<const double> code, std::size_t i) noexcept {
  const std::span<const double> words = code.subspan(i * kChainWords, kChainWords);
  return {.op = static_cast<OpId>(words[0]),
          .a = static_cast<int>(words[1]),
          .b = static_cast<int>(words[2]),
          .attributes = {words[3], words[4]},
          .is_result = words[5] != 0};
}

void check_norm_factors(OpCall& call) {
  const Shape& variance = call.input(0).shape;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
    call.check(call.input(i).shape == variance, "scale of shape {} was given, {} is allowed",
               call.input(i).shape, variance);
  }
  call.make(DType::kFloat32, variance);
}

void check_chain(OpCall& call) {
  const std::span<const double> code = call.numbers(0);
  const std::size_t steps = code.size() / kChainWords;
  call.check(call.inputs() <= kMostChainInputs && steps >= 1 && steps <= kMostChainSteps &&
                 code.size() % kChainWords == 0,
             "{} inputs and a code of {} numbers were given, at most {} and {} steps are allowed",
             call.inputs(), code.size(), kMostChainInputs, kMostChainSteps);
  const Shape result = largest_input(call);
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
    call.check(fits_chain(call.input(i).shape, result),
               "input {} of shape {} was given, one that repeats along {} is allowed", i,
               call.input(i).shape, result);
  }
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool named = i % kChainWords < 3;  // an operation, or what it takes
    call.check(!named || (code[i] >= -1 && code[i] < 1e6), "the code has {} at {}", code[i], i);
  }
  for (std::size_t i = 0; i < steps; ++i) check_step(call, chain_step(code, i), i, result);
  for (std::size_t i = 0; i < steps; ++i) {
    if (chain_step(code, i).is_result) call.make(DType::kFloat32, result);
  }
}

}  // namespace ebb::ops
