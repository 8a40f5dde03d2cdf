// Exponentials and trigonometry of float32 with vectors. Highway's functions have ranges in which
// they are right; outside of them, and for NaN, the answers are put in here and in
// elementwise_exponentials-inl.hpp.
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_math_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include <hwy/contrib/math/math-inl.h>

#include "backends/cpu/kernels/elementwise_exponentials-inl.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

template <class D, class V>
HWY_INLINE V Constant(D d, V, float value) {
  return hn::Set(d, value);
}

// `result` is right between 0 and infinity.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V WithLogEnds(D d, V v, V result) {
  result = hn::IfThenElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, -kInfinity), result);
  result = hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Set(d, kNaN), result);
  result = hn::IfThenElse(hn::Eq(v, hn::Set(d, kInfinity)), v, result);
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SafeLog(D d, V v) {
  return WithLogEnds(d, v, hn::Log(d, v));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SafeLog1p(D d, V v) {
  return WithLogEnds(d, hn::Add(v, hn::Set(d, 1.0f)), hn::Log1p(d, v));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Softplus(D d, V v) {
  const V threshold = hn::Set(d, std::log(std::numeric_limits<float>::epsilon()) + 2.0f);
  const V exponential = SafeExp(d, v);
  V result = hn::Log1p(d, hn::Min(exponential, hn::Set(d, 0x1p30f)));
  result = hn::IfThenElse(hn::Gt(v, hn::Neg(threshold)), v, result);
  result = hn::IfThenElse(hn::Lt(v, threshold), exponential, result);
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SafeTanh(D d, V v) {
  return hn::IfThenElse(hn::IsNaN(v), v, hn::Tanh(d, v));
}

// exp(|v| - ln 2) is within range wherever cosh is.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Cosh(D d, V v) {
  const V half = SafeExp(d, hn::Sub(hn::Abs(v), hn::Set(d, 0.69314718056f)));
  return hn::Add(half, hn::Div(hn::Set(d, 0.25f), half));
}

// Valid where |v| <= limit.
template <class D, class V = hn::Vec<D>, typename Function, typename Scalar>
HWY_INLINE V Within(D d, V v, float limit, Function function, Scalar scalar) {
  return Usually(d, v, hn::Le(hn::Abs(v), hn::Set(d, limit)), function, scalar);
}

// Near its poles a float's tangent has more digits than floats could work out. On arm64 Highway's sine
// of -0 is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Tan(D d, V v) {
  const V quotient = AsDoubles(
      d, v, [](auto wide, auto x) { return hn::Div(hn::Sin(wide, x), hn::Cos(wide, x)); });
  return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), v, quotient);
}

// A quotient of polynomials in [-4, 4], as Eigen and XLA have it; beyond, erf is 1 to a float.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V v) {
  const V limit = hn::Set(d, 4.0f);
  const V x = hn::Min(hn::Max(v, hn::Neg(limit)), limit);
  const V x2 = hn::Mul(x, x);
  const auto polynomial = [&](auto... coefficients) {
    V sum = hn::Zero(d);
    ((sum = hn::MulAdd(sum, x2, hn::Set(d, coefficients))), ...);
    return sum;
  };
  const V over = polynomial(-2.72614225801306e-10f, 2.77068142495902e-08f, -2.10102402082508e-06f,
                            -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f,
                            -1.60960333262415e-02f);
  const V under = polynomial(-1.45660718464996e-05f, -2.13374055278905e-04f, -1.68282697438203e-03f,
                             -7.37332916720468e-03f, -1.42647390514189e-02f);
  const V one = hn::CopySign(hn::Set(d, 1.0f), v);
  const V inside = hn::Div(hn::Mul(x, over), under);
  const V result = hn::IfThenElse(hn::Lt(hn::Abs(v), limit), inside, one);
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

template <typename Function>
UnaryRow RowOf(Function) {
  return [](const void* x, void* y, std::int64_t count, const double*) {
    const Tag d;
    Map(d, static_cast<const float*>(x), static_cast<float*>(y), static_cast<std::size_t>(count),
        [&](auto v) { return Function()(v, d); });
  };
}

constexpr float kTrigonometricLimit = 39000.0f;

void AddMath(UnaryRows& rows) {
  using ops::op_id;
  const auto add = [&](ops::OpId id, auto function) {
    rows.set(id, DType::kFloat32, RowOf(function));
  };
  add(op_id("Exp"), [](auto v, auto d) { return SafeExp(d, v); });
  add(op_id("Expm1"), [](auto v, auto d) { return SafeExpm1(d, v); });
  add(op_id("Log"), [](auto v, auto d) { return SafeLog(d, v); });
  add(op_id("Log1p"), [](auto v, auto d) { return SafeLog1p(d, v); });
  add(op_id("Sigmoid"), [](auto v, auto d) { return Sigmoid(d, v); });
  add(op_id("Softplus"), [](auto v, auto d) { return Softplus(d, v); });
  add(op_id("Tanh"), [](auto v, auto d) { return SafeTanh(d, v); });
  add(op_id("Cosh"), [](auto v, auto d) { return Cosh(d, v); });
  add(op_id("Elu"), [](auto v, auto d) { return Elu(d, v, 1.0f, 1.0f); });
  add(op_id("Selu"), [](auto v, auto d) {
    return Elu(d, v, 1.0507009873554804934193349852946f, 1.7580993408473768599402175208123f);
  });
  add(op_id("Sin"), [](auto v, auto d) {
    return Within(
        d, v, kTrigonometricLimit,
        [&](auto in) { return hn::IfThenElse(hn::Eq(in, hn::Zero(d)), in, hn::Sin(d, in)); },
        [](float one) { return std::sin(one); });
  });
  add(op_id("Cos"), [](auto v, auto d) {
    return Within(
        d, v, kTrigonometricLimit, [&](auto in) { return hn::Cos(d, in); },
        [](float one) { return std::cos(one); });
  });
  add(op_id("Sinh"), [](auto v, auto d) {
    return Within(
        d, v, 88.0f, [&](auto in) { return hn::Sinh(d, in); },
        [](float one) { return std::sinh(one); });
  });
  add(op_id("Asin"), [](auto v, auto d) {
    return Within(
        d, v, 1.0f, [&](auto in) { return hn::Asin(d, in); },
        [](float one) { return std::asin(one); });
  });
  add(op_id("Acos"), [](auto v, auto d) {
    return Within(
        d, v, 1.0f, [&](auto in) { return hn::Acos(d, in); },
        [](float one) { return std::acos(one); });
  });
  add(op_id("Atan"), [](auto v, auto d) {
    return Within(
        d, v, 1e30f, [&](auto in) { return hn::Atan(d, in); },
        [](float one) { return std::atan(one); });
  });
  add(op_id("Tan"), [](auto v, auto d) {
    return Within(
        d, v, kTrigonometricLimit, [&](auto in) { return Tan(d, in); },
        [](float one) { return static_cast<float>(std::tan(static_cast<double>(one))); });
  });
  add(op_id("Erf"), [](auto v, auto d) { return Erf(d, v); });
  add(op_id("Acosh"), [](auto v, auto d) {
    const auto usual = hn::And(hn::Ge(v, hn::Set(d, 1.0f)), hn::Le(v, hn::Set(d, 1e18f)));
    return Usually(
        d, v, usual, [&](auto in) { return hn::Acosh(d, in); },
        [](float one) { return std::acosh(one); });
  });
  add(op_id("Asinh"), [](auto v, auto d) {
    return Within(
        d, v, 1e18f, [&](auto in) { return hn::Asinh(d, in); },
        [](float one) { return std::asinh(one); });
  });
  add(op_id("Atanh"), [](auto v, auto d) {
    return Usually(
        d, v, hn::Lt(hn::Abs(v), hn::Set(d, 1.0f)), [&](auto in) { return hn::Atanh(d, in); },
        [](float one) { return std::atanh(one); });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(AddMath);

void add_vector_math_rows(UnaryRows& rows) { HWY_DYNAMIC_DISPATCH(AddMath)(rows); }

}  // namespace ebb::cpu
#endif
