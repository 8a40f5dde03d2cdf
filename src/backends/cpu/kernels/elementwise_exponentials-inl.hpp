// Exponentials of float32 that are right everywhere, and the activations made of them: one code for the operations and
// for what fused operations do with their results. Included once for each target.
#if defined(EBB_ELEMENTWISE_EXPONENTIALS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EBB_ELEMENTWISE_EXPONENTIALS_INL_HPP
#undef EBB_ELEMENTWISE_EXPONENTIALS_INL_HPP
#else
#define EBB_ELEMENTWISE_EXPONENTIALS_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kExpLimit = 88.72284f;  // exp of more is beyond float32

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SafeExp(D d, V v) {
  const V most = hn::Set(d, kExpLimit);
  const V result =
      hn::IfThenElse(hn::Gt(v, most), hn::Set(d, kInfinity), hn::Exp(d, hn::Min(v, most)));
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V SafeExpm1(D d, V v) {
  const V most = hn::Set(d, kExpLimit);
  const V result =
      hn::IfThenElse(hn::Gt(v, most), hn::Set(d, kInfinity), hn::Expm1(d, hn::Min(v, most)));
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V v) {
  const V one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, SafeExp(d, hn::Neg(v))));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Elu(D d, V v, float scale, float scale_alpha) {
  const V negative = hn::Mul(hn::Set(d, scale_alpha), SafeExpm1(d, hn::Min(v, hn::Zero(d))));
  const V result = hn::IfThenElse(hn::Ge(v, hn::Zero(d)), hn::Mul(v, hn::Set(d, scale)), negative);
  return hn::IfThenElse(hn::IsNaN(v), v, result);
}

}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
