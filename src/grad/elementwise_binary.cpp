// Gradients of elementwise operations with two and more operands, which broadcast.
// arithmetic of this file: of tensors
#include <array>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

Tensor like(const Tensor& tensor, double value) { return ops::fill({}, value, tensor.dtype()); }
// As a condition that select() takes, for operands that were broadcast.
Tensor where(const Tensor& condition, const Tensor& t, const Tensor& e) {
  const Dims shape = dims_of(condition.shape());
  return ops::select(condition, ops::broadcast_to(t, shape), ops::broadcast_to(e, shape));
}
Tensor where(const Tensor& condition, const Tensor& t) { return where(condition, t, like(t, 0)); }

void add(Backprop& call) {
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.wants(i)) call.give_summed(i, call.dy());
  }
}

void sub(Backprop& call) {
  if (call.wants(0)) call.give_summed(0, call.dy());
  if (call.wants(1)) call.give(1, -summed_to(call.dy(), call.x_shape(1)));
}

void multiply(Backprop& call) {
  if (call.wants(0)) call.give_summed(0, call.dy() * conjugate(call.x(1)));
  if (call.wants(1)) call.give_summed(1, call.dy() * conjugate(call.x(0)));
}

void real_div(Backprop& call) {
  const Tensor& b = call.x(1);
  if (call.wants(0)) call.give_summed(0, call.dy() / b);
  if (call.wants(1)) call.give_summed(1, -(call.dy() * call.x(0)) / ops::square(b));
}

void atan2(Backprop& call) {
  const Tensor& a = call.x(0);
  const Tensor& b = call.x(1);
  const Tensor scaled = call.dy() / (ops::square(a) + ops::square(b));
  if (call.wants(0)) call.give_summed(0, scaled * b);
  if (call.wants(1)) call.give_summed(1, -(scaled * a));
}

// dy above 0, dy * (y + 1) below.
void elu_grad(Backprop& call) {
  const Tensor& y = call.x(1);
  if (call.wants(0)) call.give(0, ops::elu_grad(call.dy(), y));
  if (call.wants(1)) call.give(1, where(ops::less(y, like(y, 0)), call.dy() * call.x(0)));
}

// What is equal goes to the first, as TensorFlow.js has it.
template <auto kFirst, auto kSecond>
void extreme(Backprop& call) {
  const Tensor& a = call.x(0);
  const Tensor& b = call.x(1);
  if (call.wants(0)) call.give_summed(0, where(kFirst(a, b), call.dy()));
  if (call.wants(1)) call.give_summed(1, where(kSecond(a, b), call.dy()));
}

// a - floor(a / b) * b
void mod(Backprop& call) {
  if (call.wants(0)) call.give_summed(0, call.dy());
  if (call.wants(1)) {
    call.give_summed(1, -(call.dy() * ops::floor(call.x(0) / call.x(1))));
  }
}

// An exponent of 0 gives a constant, whatever the base; only above 0 has the base a logarithm.
void pow(Backprop& call) {
  const Tensor& a = call.x(0);
  const Tensor& b = call.x(1);
  if (call.wants(0)) {
    const Tensor slope = b * ops::pow(a, b - 1);
    const Tensor constant = ops::broadcast_to(ops::equal(b, like(b, 0)), dims_of(slope.shape()));
    call.give_summed(0, call.dy() * where(constant, like(slope, 0), slope));
  }
  if (call.wants(1)) {
    const Tensor positive = ops::greater(a, like(a, 0));
    const Tensor log = where(positive, ops::log(where(positive, a, like(a, 1))));
    call.give_summed(1, call.dy() * (call.y() * log));
  }
}

void prelu(Backprop& call) {
  const Tensor& x = call.x(0);
  const Tensor positive = ops::broadcast_to(ops::greater(x, like(x, 0)), dims_of(call.y_shape()));
  if (call.wants(0)) call.give_summed(0, where(positive, call.dy(), call.dy() * call.x(1)));
  if (call.wants(1)) {
    call.give_summed(1, where(positive, like(call.dy(), 0), call.dy() * x));
  }
}

void select(Backprop& call) {
  const Tensor zero = ops::zeros_like(call.dy());
  if (call.wants(1)) call.give(1, ops::select(call.x(0), call.dy(), zero));
  if (call.wants(2)) call.give(2, ops::select(call.x(0), zero, call.dy()));
}

void squared_difference(Backprop& call) {
  const Tensor slope = call.dy() * ((call.x(0) - call.x(1)) * 2);
  if (call.wants(0)) call.give_summed(0, slope);
  if (call.wants(1)) call.give_summed(1, -slope);
}

constexpr std::string_view kTruth = "its result is true or false";

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    complex_too("Add", add),
    complex_too("AddN", add),
    {"Atan2", atan2, kInputs},
    constant("BitwiseAnd", "its operands are whole numbers"),
    {"EluGrad", elu_grad, kInputs},
    constant("Equal", kTruth),
    constant("FloorDiv", "its result is whole numbers"),
    constant("Greater", kTruth),
    constant("GreaterEqual", kTruth),
    constant("Less", kTruth),
    constant("LessEqual", kTruth),
    constant("LogicalAnd", kTruth),
    constant("LogicalOr", kTruth),
    constant("LogicalXor", kTruth),
    {"Maximum", extreme<ops::greater_equal, ops::less>, kInputs},
    {"Minimum", extreme<ops::less_equal, ops::greater>, kInputs},
    {"Mod", mod, kInputs},
    complex_too("Multiply", multiply, kOtherInputs),
    constant("NotEqual", kTruth),
    {"Pow", pow, {.inputs = 3, .outputs = 1}},
    {"Prelu", prelu, kInputs},
    {"RealDiv", real_div, kInputs},
    complex_too("Select", select, {.inputs = 1}),
    {"SquaredDifference", squared_difference, kInputs},
    complex_too("Sub", sub),
});
// clang-format on
static_assert(covers(kRows, OfIds{ops::op_id("Add"), ops::op_id("Fill")}));

}  // namespace

std::span<const GradientRow> of_elementwise_binary() noexcept { return kRows; }

}  // namespace ebb::gradients
