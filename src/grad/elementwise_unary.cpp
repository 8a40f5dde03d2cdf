// Gradients of elementwise operations with one operand, and of the tensors made of numbers. Each is
// a formula of dy and what was kept, x or y.
// arithmetic of this file: of tensors
#include <array>
#include <cmath>
#include <numbers>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;

template <auto kFormula>
void of_x(Backprop& call) {
  call.give(0, kFormula(call.dy(), call.x()));
}
template <auto kFormula>
void of_y(Backprop& call) {
  call.give(0, kFormula(call.dy(), call.y()));
}

// dy where the condition holds, zeros elsewhere, whatever dy is there.
Tensor where(const Tensor& condition, const Tensor& dy) {
  return ops::select(condition, dy, ops::zeros_like(dy));
}
Tensor like(const Tensor& tensor, double value) { return ops::fill({}, value, tensor.dtype()); }

using T = const Tensor&;

constexpr auto kAbs = [](T dy, T x) { return dy * ops::sign(x); };
constexpr auto kAcos = [](T dy, T x) { return -dy / ops::sqrt(1 - ops::square(x)); };
constexpr auto kAcosh = [](T dy, T x) { return dy / ops::sqrt(ops::square(x) - 1); };
constexpr auto kAsin = [](T dy, T x) { return dy / ops::sqrt(1 - ops::square(x)); };
constexpr auto kAsinh = [](T dy, T x) { return dy / ops::sqrt(ops::square(x) + 1); };
constexpr auto kAtan = [](T dy, T x) { return dy / (ops::square(x) + 1); };
constexpr auto kAtanh = [](T dy, T x) { return dy / (1 - ops::square(x)); };
constexpr auto kCos = [](T dy, T x) { return -(dy * ops::sin(x)); };
constexpr auto kCosh = [](T dy, T x) { return dy * ops::sinh(x); };
constexpr auto kElu = [](T dy, T y) { return ops::elu_grad(dy, y); };
constexpr auto kErf = [](T dy, T x) {
  return dy * (ops::exp(-ops::square(x)) * (2 * std::numbers::inv_sqrtpi));
};
constexpr auto kExp = [](T dy, T y) { return dy * y; };
constexpr auto kExpm1 = [](T dy, T y) { return dy * (y + 1); };
constexpr auto kLog = [](T dy, T x) { return dy / x; };
constexpr auto kLog1p = [](T dy, T x) { return dy / (x + 1); };
constexpr auto kReciprocal = [](T dy, T y) { return -(dy * ops::square(y)); };
constexpr auto kRelu = [](T dy, T y) { return dy * ops::step(y); };
constexpr auto kRelu6 = [](T dy, T x) {
  return where(ops::logical_and(ops::greater(x, like(x, 0)), ops::less_equal(x, like(x, 6))), dy);
};
constexpr auto kRsqrt = [](T dy, T y) { return dy * (ops::square(y) * y) * -0.5; };
constexpr auto kSigmoid = [](T dy, T y) { return dy * (y * (1 - y)); };
constexpr auto kSin = [](T dy, T x) { return dy * ops::cos(x); };
constexpr auto kSinh = [](T dy, T x) { return dy * ops::cosh(x); };
constexpr auto kSoftplus = [](T dy, T x) { return dy * ops::sigmoid(x); };
constexpr auto kSqrt = [](T dy, T y) { return dy / (y * 2); };
constexpr auto kSquare = [](T dy, T x) { return dy * (x * 2); };
constexpr auto kTan = [](T dy, T y) { return dy * (ops::square(y) + 1); };
constexpr auto kTanh = [](T dy, T y) { return dy * (1 - ops::square(y)); };

// scale * x above 0, scale * alpha * (e^x - 1) below: there the slope is y + scale * alpha.
constexpr auto kSelu = [](T dy, T y) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kScaleAlpha = kScale * 1.6732632423543772848170429916717;
  return dy * ops::select(ops::greater(y, like(y, 0)),
                          ops::fill(dims_of(y.shape()), kScale, y.dtype()), y + kScaleAlpha);
};

void clip(Backprop& call) {
  const Tensor low = like(call.x(), call.number(attribute_at("ClipByValue", "clipValueMin")));
  const Tensor high = like(call.x(), call.number(attribute_at("ClipByValue", "clipValueMax")));
  call.give(
      0, where(ops::logical_and(ops::greater_equal(call.x(), low), ops::less_equal(call.x(), high)),
               call.dy()));
}

void leaky_relu(Backprop& call) {
  const double alpha = call.number(attribute_at("LeakyRelu", "alpha"));
  call.give(0,
            ops::select(ops::greater(call.x(), like(call.x(), 0)), call.dy(), call.dy() * alpha));
}

void neg(Backprop& call) { call.give(0, -call.dy()); }

void cast(Backprop& call) { call.give(0, call.dy()); }  // give() converts it

// In the direction of the number; at 0 there is none.
void complex_abs(Backprop& call) {
  const Tensor length = call.y();
  const Tensor zero = ops::equal(length, like(length, 0));
  const Tensor by_length = ops::select(
      zero, ops::zeros_like(length), call.dy() / ops::select(zero, ops::ones_like(length), length));
  call.give(0, ops::complex(by_length * ops::real(call.x()), by_length * ops::imag(call.x())));
}

void complex(Backprop& call) {
  if (call.wants(0)) call.give(0, ops::real(call.dy()));
  if (call.wants(1)) call.give(1, ops::imag(call.dy()));
}

constexpr std::string_view kSteps = "it is constant between its steps";
constexpr std::string_view kTruth = "its result is true or false";
constexpr std::string_view kNoOperand = "it has no operand";

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"Abs", of_x<kAbs>, kInput},
    {"Acos", of_x<kAcos>, kInput},
    {"Acosh", of_x<kAcosh>, kInput},
    {"Asin", of_x<kAsin>, kInput},
    {"Asinh", of_x<kAsinh>, kInput},
    {"Atan", of_x<kAtan>, kInput},
    {"Atanh", of_x<kAtanh>, kInput},
    constant("Ceil", kSteps),
    {"ClipByValue", clip, kInput},
    {"Cos", of_x<kCos>, kInput},
    {"Cosh", of_x<kCosh>, kInput},
    {"Elu", of_y<kElu>, kOutput},
    {"Erf", of_x<kErf>, kInput},
    {"Exp", of_y<kExp>, kOutput},
    {"Expm1", of_y<kExpm1>, kOutput},
    constant("Floor", kSteps),
    constant("IsFinite", kTruth),
    constant("IsInf", kTruth),
    constant("IsNan", kTruth),
    {"LeakyRelu", leaky_relu, kInput},
    {"Log", of_x<kLog>, kInput},
    {"Log1p", of_x<kLog1p>, kInput},
    constant("LogicalNot", kTruth),
    complex_too("Neg", neg),
    {"Reciprocal", of_y<kReciprocal>, kOutput},
    {"Relu", of_y<kRelu>, kOutput},
    {"Relu6", of_x<kRelu6>, kInput},
    constant("Round", kSteps),
    {"Rsqrt", of_y<kRsqrt>, kOutput},
    {"Selu", of_y<kSelu>, kOutput},
    {"Sigmoid", of_y<kSigmoid>, kOutput},
    constant("Sign", kSteps),
    {"Sin", of_x<kSin>, kInput},
    {"Sinh", of_x<kSinh>, kInput},
    {"Softplus", of_x<kSoftplus>, kInput},
    {"Sqrt", of_y<kSqrt>, kOutput},
    {"Square", of_x<kSquare>, kInput},
    constant("Step", kSteps),
    {"Tan", of_y<kTan>, kOutput},
    {"Tanh", of_y<kTanh>, kOutput},
    complex_too("Cast", cast),
    complex_too("ComplexAbs", complex_abs, {.inputs = 1, .outputs = 1}),

    constant("Fill", kNoOperand),
    constant("LinSpace", kNoOperand),
    constant("Range", kNoOperand),
    constant("OneHot", "its operand is whole numbers"),
    constant("OnesLike", "it takes of its operand only the shape"),
    constant("ZerosLike", "it takes of its operand only the shape"),
    constant("Eye", kNoOperand),
    constant("RandomUniform", kNoOperand),
    constant("RandomNormal", kNoOperand),
    constant("Multinomial", "its result is whole numbers"),
    complex_too("Complex", complex),
});
// clang-format on
static_assert(covers(kRows, OfIds{1, ops::op_id("Add")}, OfFamily{"creation"}));

}  // namespace

std::span<const GradientRow> of_elementwise_unary() noexcept { return kRows; }

}  // namespace ebb::gradients
