// The gradients of which TensorFlow.js has others: where a function bends, among equal elements, in
// padding, and in what becomes of infinities and NaN. A product with 0 keeps them, a choice does
// not; and what has no slope gives zeros, where the usual rows give nothing.
// arithmetic of this file: of tensors
#include <array>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;
using ops::attribute_of_all;
using T = const Tensor&;

Tensor like(T tensor, double value) { return ops::fill({}, value, tensor.dtype()); }

template <auto kFormula>
void of_x(Backprop& call) {
  call.give(0, kFormula(call.dy(), call.x()));
}

constexpr auto kAbs = [](T dy, T x) { return dy * ops::step(x, {.alpha = -1}); };
constexpr auto kExpm1 = [](T dy, T x) { return dy * ops::exp(x); };
constexpr auto kRelu6 = [](T dy, T x) {
  return dy * (mask(ops::less_equal(x, like(x, 6)), x.dtype()) * ops::step(x));
};
constexpr auto kRsqrt = [](T dy, T x) { return dy / (ops::pow(x, like(x, 1.5)) * -2); };
constexpr auto kSelu = [](T dy, T x) {
  constexpr double kScale = 1.0507009873554804934193349852946;
  constexpr double kScaleAlpha = 1.7580993408473768599402175208123;
  return ops::select(ops::greater(x, like(x, 0)), dy * kScale, dy * kScaleAlpha * ops::exp(x));
};

void zero(Backprop& call) { call.give(0, ops::zeros_like(call.dy())); }

template <auto kFirst, auto kSecond>
void extreme_of_two(Backprop& call) {
  const auto share = [&](T chosen) { return call.dy() * mask(chosen, call.dy().dtype()); };
  if (call.wants(0)) call.give_summed(0, share(kFirst(call.x(0), call.x(1))));
  if (call.wants(1)) call.give_summed(1, share(kSecond(call.x(0), call.x(1))));
}

void pow(Backprop& call) {
  const Tensor& a = call.x(0);
  const Tensor& b = call.x(1);
  if (call.wants(0)) call.give_summed(0, call.dy() * (b * ops::pow(a, b - 1)));
  if (call.wants(1)) {
    const Tensor log = ops::select(ops::greater(a, like(a, 0)), ops::log(a), ops::zeros_like(a));
    call.give_summed(1, call.dy() * (call.y() * log));
  }
}

void real_div(Backprop& call) {
  const Tensor& b = call.x(1);
  if (call.wants(0)) call.give_summed(0, call.dy() / b);
  if (call.wants(1)) {
    call.give(1, -(summed_to(call.dy() * call.x(0), call.x_shape(1)) / ops::square(b)));
  }
}

// The condition may be one for each row.
void select(Backprop& call) {
  const DType dtype = call.dy().dtype();
  Dims along = dims_of(call.x_shape(0));
  if (!along.empty()) along.resize(call.y_shape().rank(), 1);
  const Tensor condition = ops::reshape(ops::cast(call.x(0), DType::kBool), along);
  if (call.wants(1)) call.give(1, call.dy() * mask(condition, dtype));
  if (call.wants(2)) call.give(2, call.dy() * mask(ops::logical_not(condition), dtype));
}

// All that are the extreme get the whole of it.
void extreme(Backprop& call) {
  constexpr std::size_t kAxes = attribute_of_all("axes", "Max", "Min");
  const Dims kept = with_ones(call.x_shape(), call.axes(kAxes, call.x_shape().rank()));
  const Tensor chosen = ops::equal(call.x(), ops::reshape(call.y(), kept));
  call.give(0, ops::reshape(call.dy(), kept) * mask(chosen, call.x_dtype()));
}

consteval std::size_t of_averages(std::string_view name) {
  return attribute_of_all(name, "AvgPool", "AvgPool3D");
}

// Divided by the whole window, also where a part of it lies in the padding.
template <auto kGrad>
void average(Backprop& call) {
  call.give(0, kGrad(call.dy(), call.x(), call.integers(of_averages("filterSize")),
                     {call.integers(of_averages("strides")), call.integers(of_averages("pads")),
                      call.integers(of_averages("dilations"))}));
}

// As of padding with a constant: nothing goes back to what was mirrored.
void mirror_pad(Backprop& call) {
  const Dims paddings = call.integers(attribute_at("MirrorPad", "paddings"));
  Dims begin;
  for (std::size_t i = 0; i < call.x_shape().rank(); ++i) begin.push_back(paddings[2 * i]);
  call.give(0, ops::slice(call.dy(), begin, dims_of(call.x_shape())));
}

constexpr Keeps kBoth{.inputs = 1, .outputs = 1};

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"Abs", of_x<kAbs>, kInput},
    {"AvgPool", average<ops::avg_pool_grad>, kInput},
    {"AvgPool3D", average<ops::avg_pool3d_grad>, kInput},
    {"Ceil", zero},
    {"Expm1", of_x<kExpm1>, kInput},
    {"Floor", zero},
    {"Max", extreme, kBoth},
    {"Maximum", extreme_of_two<ops::greater_equal, ops::less>, kInputs},
    {"Min", extreme, kBoth},
    {"Minimum", extreme_of_two<ops::less_equal, ops::greater>, kInputs},
    complex_too("MirrorPad", mirror_pad),
    complex_too("OnesLike", zero),
    {"Pow", pow, {.inputs = 3, .outputs = 1}},
    {"RealDiv", real_div, kInputs},
    {"Relu6", of_x<kRelu6>, kInput},
    {"Round", zero},
    {"Rsqrt", of_x<kRsqrt>, kInput},
    complex_too("Select", select, {.inputs = 1}),
    {"Selu", of_x<kSelu>, kInput},
    {"Sign", zero},
    {"Step", zero},
    complex_too("ZerosLike", zero),
});
// clang-format on

consteval bool are_operations(std::span<const GradientRow> rows) {
  for (const GradientRow& row : rows) {
    if (times_in(rows, row.op) != 1 || ops::find_op(row.op)->name != row.op) return false;
  }
  return true;
}
static_assert(are_operations(kRows));

}  // namespace

std::span<const GradientRow> of_tensorflow_js() noexcept { return kRows; }

}  // namespace ebb::gradients
