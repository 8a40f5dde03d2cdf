// Powers and remainders with vectors, worked out in doubles.
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_power_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

template <typename T, typename Function>
BinaryRow RowOf(Function) {
  return [](const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
            std::int64_t count) {
    const hn::ScalableTag<T> d;
    MapPairs(d, static_cast<const T*>(a), a_step, static_cast<const T*>(b), b_step,
             static_cast<T*>(out), static_cast<std::size_t>(count),
             [&](auto x, auto y) { return Function()(d, x, y); });
  };
}

// |x|^y, of finite doubles that were floats. exp(+-300) is beyond what a float can be.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowerOfMagnitude(D d, V x, V y) {
  const V most = hn::Set(d, 300.0);
  const V exponent = hn::Mul(y, hn::Log(d, x));
  const V power = hn::Exp(d, hn::Min(hn::Max(exponent, hn::Neg(most)), most));
  const V of_zero = hn::IfThenElse(hn::Gt(y, hn::Zero(d)), hn::Zero(d),
                                   hn::Set(d, std::numeric_limits<double>::infinity()));
  return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), of_zero, power);
}

// Of finite floats. A negative base has powers for whole exponents only.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Power(D d, V x, V y) {
  const V magnitude = AsDoubles(
      d, hn::Abs(x), y, [](auto wide, auto a, auto b) { return PowerOfMagnitude(wide, a, b); });
  const V half = hn::Mul(y, hn::Set(d, 0.5f));
  const auto whole = hn::Eq(hn::Round(y), y);
  const auto odd = hn::And(whole, hn::Not(hn::Eq(hn::Round(half), half)));
  V result = hn::IfThenElse(odd, hn::CopySign(magnitude, x), magnitude);
  const auto none = hn::And(hn::Lt(x, hn::Zero(d)), hn::Not(whole));
  result = hn::IfThenElse(none, hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  return hn::IfThenElse(hn::Eq(y, hn::Zero(d)), hn::Set(d, 1.0f), result);
}

struct Pow {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V y) const {
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto finite = hn::And(hn::Lt(hn::Abs(x), infinity), hn::Lt(hn::Abs(y), infinity));
    return Usually(
        d, x, y, finite, [&](V a, V b) { return Power(d, a, b); },
        [](float a, float b) { return std::pow(a, b); });
  }
};

// What is left of a after whole b's, with a's sign: exact, for |a / b| below 2^29.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Rest(D d, V a, V b) {
  V rest = hn::NegMulAdd(hn::Trunc(hn::Div(a, b)), b, a);
  // The quotient was rounded up to a whole number.
  const auto beyond = hn::Lt(hn::Mul(rest, a), hn::Zero(d));
  rest = hn::IfThenElse(beyond, hn::Add(rest, hn::CopySign(hn::Abs(b), a)), rest);
  return hn::CopySign(rest, a);
}

// The sign becomes the divisor's.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Floored(D d, V rest, V a, V b) {
  const V zero = hn::Zero(d);
  const auto alike =
      hn::Or(hn::And(hn::Lt(a, zero), hn::Lt(b, zero)), hn::And(hn::Ge(a, zero), hn::Ge(b, zero)));
  const V moved = hn::Add(rest, b);
  const auto all = hn::Eq(hn::Abs(moved), hn::Abs(b));
  return hn::IfThenElse(alike, rest, hn::IfThenElse(all, hn::CopySign(zero, moved), moved));
}

float floor_mod(float a, float b) {
  const float rest = std::fmod(a, b);
  if ((a < 0 && b < 0) || (a >= 0 && b >= 0)) return rest;
  return std::fmod(rest + b, b);
}

struct Mod {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V y) const {
    const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
    const auto usual =
        hn::And(hn::Lt(hn::Abs(hn::Div(x, y)), hn::Set(d, 0x1p28f)), hn::Lt(hn::Abs(y), infinity));
    return Usually(
        d, x, y, usual,
        [&](V a, V b) {
          const V rest =
              AsDoubles(d, a, b, [](auto wide, auto p, auto q) { return Rest(wide, p, q); });
          return Floored(d, rest, a, b);
        },
        floor_mod);
  }
};

// Nothing modulo 0 is 0.
struct IntegerMod {
  template <class D, class V = hn::Vec<D>>
  V operator()(D d, V x, V y) const {
    const auto nothing = hn::Eq(y, hn::Zero(d));
    const V divisor = hn::IfThenElse(nothing, hn::Set(d, 1), y);
    return AsDoubles(d, x, divisor, [](auto wide, auto a, auto b) {
      return Floored(wide, Rest(wide, a, b), a, b);
    });
  }
};

void AddPowers(BinaryRows& rows) {
  using ops::op_id;
  rows.set(op_id("Pow"), DType::kFloat32, RowOf<float>(Pow()));
  rows.set(op_id("Mod"), DType::kFloat32, RowOf<float>(Mod()));
  rows.set(op_id("Mod"), DType::kInt32, RowOf<std::int32_t>(IntegerMod()));
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(AddPowers);

void add_vector_power_rows(BinaryRows& rows) { HWY_DYNAMIC_DISPATCH(AddPowers)(rows); }

}  // namespace ebb::cpu
#endif
