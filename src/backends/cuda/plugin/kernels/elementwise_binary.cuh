// What the elementwise operations on two operands compute, a functor each. Called with
// Arithmetic<T> of both; the result is converted to the output's dtype.
#pragma once

#include "backends/cuda/plugin/kernels/elementwise_unary.cuh"

namespace ebb::cuda::binary {

using std::atan2;
using std::floor;
using std::fmod;

// Integer overflow wraps around, as in the arrays that hold the results.
template <typename A>
using Wrapping = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;

#define EBB_BINARY(Name)                                \
  struct Name {                                         \
    static constexpr ops::OpId kOp = ops::op_id(#Name); \
    template <typename A>                               \
    EBB_BOTH auto operator()(A a, A b) const;           \
  };                                                    \
  template <typename A>                                 \
  EBB_BOTH auto Name::operator()(A a, A b) const

EBB_BINARY(Add) { return static_cast<A>(Wrapping<A>(a) + Wrapping<A>(b)); }
EBB_BINARY(Sub) { return static_cast<A>(Wrapping<A>(a) - Wrapping<A>(b)); }
EBB_BINARY(Multiply) { return static_cast<A>(Wrapping<A>(a) * Wrapping<A>(b)); }
EBB_BINARY(SquaredDifference) {
  const Wrapping<A> difference = Wrapping<A>(a) - Wrapping<A>(b);
  return static_cast<A>(difference * difference);
}
EBB_BINARY(RealDiv) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<double>(a) / static_cast<double>(b);
  } else {
    return a / b;
  }
}
EBB_BINARY(Pow) {
  using std::pow;
  return pow(unary::floating(a), unary::floating(b));
}
// NaN wins, whichever side it is on.
EBB_BINARY(Maximum) { return a != a ? a : b != b ? b : a > b ? a : b; }
EBB_BINARY(Minimum) { return a != a ? a : b != b ? b : a < b ? a : b; }
// The sign is the divisor's.
EBB_BINARY(Mod) {
  if constexpr (std::is_integral_v<A>) {
    if (b == 0 || b == -1) return A(0);
    const A rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  } else {
    const A rest = fmod(a, b);
    if ((a < 0 && b < 0) || (a >= 0 && b >= 0)) return rest;
    return fmod(rest + b, b);
  }
}
EBB_BINARY(FloorDiv) {
  if constexpr (std::is_integral_v<A>) {
    if (b == 0) return A(0);
    if (b == -1) return static_cast<A>(0 - static_cast<std::uint64_t>(a));
    return static_cast<A>(a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0));
  } else {
    return floor(a / b);
  }
}
EBB_BINARY(Atan2) { return atan2(unary::floating(a), unary::floating(b)); }
EBB_BINARY(Prelu) { return a < A(0) ? a * b : a; }
EBB_BINARY(EluGrad) { return b >= A(0) ? a : a * (b + A(1)); }  // dy, y
EBB_BINARY(BitwiseAnd) { return static_cast<std::int64_t>(a) & static_cast<std::int64_t>(b); }
EBB_BINARY(Equal) { return a == b; }
EBB_BINARY(NotEqual) { return a != b; }
EBB_BINARY(Greater) { return a > b; }
EBB_BINARY(GreaterEqual) { return a >= b; }
EBB_BINARY(Less) { return a < b; }
EBB_BINARY(LessEqual) { return a <= b; }
EBB_BINARY(LogicalAnd) { return a != A(0) && b != A(0); }
EBB_BINARY(LogicalOr) { return a != A(0) || b != A(0); }
EBB_BINARY(LogicalXor) { return (a != A(0)) != (b != A(0)); }
#undef EBB_BINARY

using Real = List<Add, Sub, Multiply, SquaredDifference, RealDiv, Pow, Maximum, Minimum, Mod,
                  FloorDiv, Atan2, Prelu, EluGrad, Equal, NotEqual, Greater, GreaterEqual, Less,
                  LessEqual, LogicalAnd, LogicalOr, LogicalXor>;
using OfIntegers = List<BitwiseAnd>;
using OfComplex = List<Add, Sub, Multiply, SquaredDifference, RealDiv, Pow, Equal, NotEqual>;

}  // namespace ebb::cuda::binary
