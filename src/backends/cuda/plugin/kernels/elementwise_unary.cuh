// What the elementwise operations on one operand compute, a functor each. A functor is called with
// Arithmetic<T> of its operand's T and the operation's numbers; the result is converted to the
// output's dtype.
#pragma once

#include "backends/cuda/plugin/kernels/element.cuh"
#include "ebb/ops/table.hpp"

namespace ebb::cuda {

struct Numbers {
  double value[2] = {};
};

template <typename... Functors>
struct List {};

namespace unary {

using std::ceil;
using std::erf;
using std::exp;
using std::expm1;
using std::floor;
using std::hypot;
using std::log;
using std::log1p;
using std::nearbyint;
using std::sqrt;

// A function of floats is taken of an integer's value.
template <typename A>
EBB_BOTH auto floating(A a) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<double>(a);
  } else {
    return a;
  }
}
template <typename A>
using Floating = decltype(floating(A{}));

#define EBB_UNARY(Name)                                          \
  struct Name {                                                  \
    static constexpr ops::OpId kOp = ops::op_id(#Name);          \
    template <typename A>                                        \
    EBB_BOTH auto operator()(A a, const Numbers& numbers) const; \
  };                                                             \
  template <typename A>                                          \
  EBB_BOTH auto Name::operator()(A a, [[maybe_unused]] const Numbers& numbers) const

// ---- arithmetic
EBB_UNARY(Abs) { return a < A(0) ? -a : a * A(1); }
EBB_UNARY(Neg) { return -a; }
EBB_UNARY(Square) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(a));
  } else {
    return a * a;
  }
}
EBB_UNARY(Reciprocal) { return Floating<A>(1) / floating(a); }
EBB_UNARY(Ceil) { return ceil(floating(a)); }
EBB_UNARY(Floor) { return floor(floating(a)); }
EBB_UNARY(Round) { return nearbyint(floating(a)); }  // halves to even
EBB_UNARY(Sign) { return A(a > A(0) ? 1 : a < A(0) ? -1 : 0); }
EBB_UNARY(ClipByValue) {
  using Limit = std::conditional_t<std::is_floating_point_v<A>, A, double>;
  const auto least = static_cast<Limit>(numbers.value[0]);
  const auto most = static_cast<Limit>(numbers.value[1]);
  const auto x = static_cast<Limit>(a);
  return x > most ? static_cast<A>(most) : x < least ? static_cast<A>(least) : a;
}
EBB_UNARY(Relu) { return a < A(0) ? A(0) : a; }  // NaN stays
EBB_UNARY(Relu6) { return a < A(0) ? A(0) : a > A(6) ? A(6) : a; }
EBB_UNARY(Step) {
  using F = Floating<A>;
  const F x = floating(a);
  return x != x ? x : x > F(0) ? F(1) : F(numbers.value[0]);
}
EBB_UNARY(LeakyRelu) {
  using F = Floating<A>;
  const F x = floating(a);
  return x < F(0) ? F(numbers.value[0]) * x : x;
}

// ---- predicates
EBB_UNARY(IsNan) { return a != a; }
EBB_UNARY(IsInf) {
  const Floating<A> x = floating(a);
  return x == x && x - x != x - x;
}
EBB_UNARY(IsFinite) {
  const Floating<A> x = floating(a);
  return x - x == x - x;
}
EBB_UNARY(LogicalNot) { return a == A(0); }

// ---- exponentials
EBB_UNARY(Exp) { return exp(floating(a)); }
EBB_UNARY(Expm1) {
  if constexpr (kIsComplex<A>) {
    return exp(a) - A(1);
  } else {
    return expm1(floating(a));
  }
}
EBB_UNARY(Log) { return log(floating(a)); }
EBB_UNARY(Log1p) { return log1p(floating(a)); }
EBB_UNARY(Sqrt) { return sqrt(floating(a)); }
EBB_UNARY(Rsqrt) { return Floating<A>(1) / sqrt(floating(a)); }
EBB_UNARY(Sigmoid) {
  using F = Floating<A>;
  return F(1) / (F(1) + exp(-floating(a)));
}
EBB_UNARY(Softplus) {
  using F = Floating<A>;
  const F x = floating(a);
  const F threshold = sizeof(F) == 4 ? F(-13.942385) : F(-34.043653389117155);  // log(epsilon) + 2
  if (x < threshold) return exp(x);
  if (x > -threshold) return x;
  return log1p(exp(x));
}
EBB_UNARY(Elu) {
  const Floating<A> x = floating(a);
  return x >= 0 ? x : expm1(x);
}
EBB_UNARY(Selu) {
  using F = Floating<A>;
  const F x = floating(a);
  return x >= F(0) ? F(1.0507009873554804934193349852946) * x
                   : F(1.7580993408473768599402175208123) * expm1(x);
}
EBB_UNARY(Erf) { return erf(floating(a)); }

// ---- trigonometry
#define EBB_UNARY_MATH(Name, function) \
  EBB_UNARY(Name) {                    \
    using std::function;               \
    return function(floating(a));      \
  }
EBB_UNARY_MATH(Acos, acos)
EBB_UNARY_MATH(Acosh, acosh)
EBB_UNARY_MATH(Asin, asin)
EBB_UNARY_MATH(Asinh, asinh)
EBB_UNARY_MATH(Atan, atan)
EBB_UNARY_MATH(Atanh, atanh)
EBB_UNARY_MATH(Cos, cos)
EBB_UNARY_MATH(Cosh, cosh)
EBB_UNARY_MATH(Sin, sin)
EBB_UNARY_MATH(Sinh, sinh)
EBB_UNARY_MATH(Tanh, tanh)
#undef EBB_UNARY_MATH
// Near its poles a float's tangent has more digits than one of floats gets right.
EBB_UNARY(Tan) {
  using std::tan;
  if constexpr (std::is_same_v<A, float>) {
    return static_cast<float>(tan(static_cast<double>(a)));
  } else {
    return tan(floating(a));
  }
}
struct ComplexAbs {
  static constexpr ops::OpId kOp = ops::op_id("ComplexAbs");
  EBB_BOTH float operator()(Complex64 a, const Numbers&) const { return hypot(a.real(), a.imag()); }
};
#undef EBB_UNARY

// Results of the operand's dtype; LeakyRelu and Exp of integers are float32.
using Real =
    List<Abs, Acos, Acosh, Asin, Asinh, Atan, Atanh, Ceil, ClipByValue, Cos, Cosh, Elu, Erf, Exp,
         Expm1, Floor, LeakyRelu, Log, Log1p, Neg, Reciprocal, Relu, Relu6, Round, Rsqrt, Selu,
         Sigmoid, Sign, Sin, Sinh, Softplus, Sqrt, Square, Step, Tan, Tanh>;
// Results are booleans.
using Predicates = List<IsFinite, IsInf, IsNan, LogicalNot>;
using OfComplex = List<Neg, Square, Reciprocal, Sqrt, Log, Sin, Cos, Tanh, Sigmoid, Rsqrt, Exp,
                       Expm1, Sinh, Cosh, Tan, ComplexAbs>;

}  // namespace unary
}  // namespace ebb::cuda
