#include "ops/chain.hpp"

#include <algorithm>

#include "ops/axes.hpp"
#include "ops/format.hpp"
#include "ops/normed.hpp"
#include "ops/packed.hpp"

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

constexpr std::array kTruths{op_id("Equal"),        op_id("NotEqual"), op_id("Greater"),
                             op_id("GreaterEqual"), op_id("Less"),     op_id("LessEqual"),
                             op_id("LogicalAnd"),   op_id("LogicalOr")};

bool is_queued(const OpCall& call) { return call.device().link() != nullptr; }

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

void check_step(const OpCall& call, std::span<const double> code, std::size_t place,
                const Shape& result) {
  const ChainStep step = chain_step(code, place);
  const bool queued = is_queued(call);
  const int known = static_cast<int>(call.inputs() + place);  // arithmetic: of 64 at most
  const int operands = queued ? device_chain_operands(step.op) : chain_operands(step.op);
  call.check(operands > 0, "step {} is operation {}, an elementwise one is allowed", place,
             step.op);
  const bool has_b = operands > 1 && (step.op != kNormFactors || step.b != -1);
  const int c = chain_places(code, place)[2];
  call.check(step.a >= 0 && step.a < known && (has_b ? step.b >= 0 : step.b == -1) &&
                 step.b < known && (operands == 3 ? c >= 0 : c == -1) && c < known,
             "step {} takes {} and {}, what is known before it is allowed", place, step.a, step.b);
  const bool whole = step.a >= static_cast<int>(call.inputs()) ||
                     call.input(static_cast<std::size_t>(step.a)).shape == result;
  call.check(queued || operands == 2 || whole, "step {} takes input {}, one of shape {} is allowed",
             place, step.a, result);
  call.check(!step.is_result || !is_truth(step.op), "step {} is a result, a number is allowed",
             place);
}

// Those of their own, then the one whose parts some steps make.
void make_results(OpCall& call, std::span<const double> code, const Shape& result) {
  std::size_t parts = 0;
  for (std::size_t i = 0; i < code.size() / kChainWords; ++i) {
    const double word = code[i * kChainWords + kChainWords - 1];
    if (word == 1) call.make(DType::kFloat32, result);
    if (word != 0 && word != 1) ++parts;
  }
  if (parts == 0) return;
  std::array<bool, kMostDeviceChainSteps> seen{};
  for (std::size_t i = 0; i < code.size() / kChainWords; ++i) {
    const double part = code[i * kChainWords + kChainWords - 1] - 2;
    if (part == -2 || part == -1) continue;
    call.check(is_queued(call) && part >= 0 && part < static_cast<double>(parts) &&
                   !seen[static_cast<std::size_t>(part)] && result.rank() > 0,
               "step {} is part {} of {}, each of them once is allowed", i, part, parts);
    seen[static_cast<std::size_t>(part)] = true;
  }
  IntList dims(result.dims());
  std::int64_t& last = dims[result.rank() - 1];  // arithmetic: it has an axis
  last = checked_mul(last, static_cast<std::int64_t>(parts));
  call.make(DType::kFloat32, Shape(dims));
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
  if (op == kChain) return &kChainSpec;
  if (op == kNormFactors) return &kNormFactorsSpec;
  const OpSpec* packed = find_packed_op(op);
  return packed != nullptr ? packed : find_normed_op(op);
}

int chain_operands(OpId op) noexcept {
  if (std::ranges::find(kUnary, op) != kUnary.end()) return 1;
  return std::ranges::find(kBinary, op) != kBinary.end() ? 2 : 0;
}

bool is_truth(OpId op) noexcept {
  return std::ranges::find(kTruths, op) != kTruths.end() || op == op_id("LogicalNot");
}

int device_chain_operands(OpId op) noexcept {
  constexpr std::array kMore{op_id("LogicalNot"), op_id("ZerosLike"), op_id("OnesLike"),
                             op_id("BroadcastTo")};
  if (std::ranges::find(kMore, op) != kMore.end()) return 1;
  if (op == op_id("EluGrad") || op == op_id("Prelu") || op == kNormFactors || is_truth(op))
    return 2;
  return op == op_id("Select") ? 3 : chain_operands(op);
}

bool repeats_along(const Shape& input, const Shape& result) noexcept {
  if (input.rank() > result.rank()) return false;
  if (std::ranges::all_of(input.dims(), [](std::int64_t dim) { return dim == 1; })) return true;
  return std::ranges::equal(input.dims(), result.dims().last(input.rank()));
}

std::int64_t sharing_row(const Shape& input, const Shape& result) noexcept {
  if (input.rank() != result.rank()) return 0;
  const auto own = input.dims(), whole = result.dims();
  const auto one = std::ranges::mismatch(own, whole).in1;
  if (!std::all_of(one, own.end(), [](std::int64_t dim) { return dim == 1; })) return 0;
  return extent(result, static_cast<std::size_t>(one - own.begin()), result.rank());
}

bool fits_chain(const Shape& input, const Shape& result) noexcept {
  return repeats_along(input, result) || sharing_row(input, result) >= kLeastChainRow;
}

bool fits_device_chain(const Shape& input, const Shape& result) noexcept {
  return repeats_along(input, result) || sharing_row(input, result) > 0;
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
  const bool queued = is_queued(call);
  const std::size_t most_inputs = queued ? kMostDeviceChainInputs : kMostChainInputs;
  const std::size_t most_steps = queued ? kMostDeviceChainSteps : kMostChainSteps;
  call.check(call.inputs() <= most_inputs && steps >= 1 && steps <= most_steps &&
                 code.size() % kChainWords == 0,
             "{} inputs and a code of {} numbers were given, at most {} and {} steps are allowed",
             call.inputs(), code.size(), most_inputs, most_steps);
  const Shape result = largest_input(call);
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
    if (!queued && !call.input(i).dense) call.make_dense(i);
    const Shape& shape = call.input(i).shape;
    call.check(queued ? fits_device_chain(shape, result) : fits_chain(shape, result),
               "input {} of shape {} was given, one that repeats along {} is allowed", i,
               call.input(i).shape, result);
  }
  for (std::size_t i = 0; i < code.size(); ++i) {
    const bool third = i % kChainWords == 3 && code[i - 3] == op_id("Select");
    const bool named = i % kChainWords < 3 || third;  // an operation, or what it takes
    call.check(!named || (code[i] >= -1 && code[i] < 1e6), "the code has {} at {}", code[i], i);
  }
  for (std::size_t i = 0; i < steps; ++i) check_step(call, code, i, result);
  make_results(call, code, result);
}

}  // namespace ebb::ops
