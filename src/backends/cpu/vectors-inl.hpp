// Loops over dense runs with Highway vectors. Included once for each target.
#if defined(EBB_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EBB_VECTORS_INL_HPP
#undef EBB_VECTORS_INL_HPP
#else
#define EBB_VECTORS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

// The first `count` elements, count < Lanes(d); never reads past them.
template <class D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadSome(D d, const T* HWY_RESTRICT from, std::size_t count) {
#if HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(D())] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
#endif
}

template <class D, typename T = hn::TFromD<D>>
HWY_INLINE void StoreSome(hn::Vec<D> value, D d, T* HWY_RESTRICT to, std::size_t count) {
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(value, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN T lanes[hn::MaxLanes(D())];
  hn::Store(value, d, lanes);
  for (std::size_t i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

// What is beyond the limits becomes them. NaN stays NaN, and zero keeps its sign: of two numbers that are neither more nor
// less than each other, x86's least and greatest are the second.
template <class D, class Limits, class V = hn::Vec<D>>
HWY_INLINE V Within(D d, const Limits& limits, V v) {
#if HWY_ARCH_X86
  return hn::Min(hn::Set(d, limits.most), hn::Max(hn::Set(d, limits.least), v));
#else
  const V low = hn::Set(d, limits.least), high = hn::Set(d, limits.most);
  return hn::IfThenElse(hn::Lt(v, low), low, hn::IfThenElse(hn::Gt(v, high), high, v));
#endif
}

// y = f(x)
template <class D, typename T = hn::TFromD<D>, typename Function>
HWY_INLINE void Map(D d, const T* HWY_RESTRICT x, T* HWY_RESTRICT y, std::size_t count,
                    Function f) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count) StoreSome(f(LoadSome(d, x + i, count - i)), d, y + i, count - i);
}

// Calls each(a, b, i, count) for vectors of both operands; count == Lanes(d) but for the last.
template <class D, typename T = hn::TFromD<D>, typename Each>
HWY_INLINE void Pairs(D d, const T* HWY_RESTRICT a, std::int64_t a_step, const T* HWY_RESTRICT b,
                      std::int64_t b_step, std::size_t count, Each each) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  if (a_step != 0 && b_step != 0) {
    for (; i + lanes <= count; i += lanes) each(hn::LoadU(d, a + i), hn::LoadU(d, b + i), i, lanes);
    if (i < count) {
      each(LoadSome(d, a + i, count - i), LoadSome(d, b + i, count - i), i, count - i);
    }
  } else if (a_step != 0) {
    const auto all = hn::Set(d, *b);
    for (; i + lanes <= count; i += lanes) each(hn::LoadU(d, a + i), all, i, lanes);
    if (i < count) each(LoadSome(d, a + i, count - i), all, i, count - i);
  } else {
    const auto all = hn::Set(d, *a);
    const auto same = hn::Set(d, *b);
    for (; i < count; i += lanes) {
      const std::size_t some = count - i < lanes ? count - i : lanes;
      const auto right = b_step == 0     ? same
                         : some == lanes ? hn::LoadU(d, b + i)
                                         : LoadSome(d, b + i, some);
      each(all, right, i, some);
    }
  }
}

// to[i] = f(a[i * a_step], b[i * b_step])
template <class D, typename T = hn::TFromD<D>, typename Function>
HWY_INLINE void MapPairs(D d, const T* HWY_RESTRICT a, std::int64_t a_step, const T* HWY_RESTRICT b,
                         std::int64_t b_step, T* HWY_RESTRICT to, std::size_t count, Function f) {
  Pairs(d, a, a_step, b, b_step, count, [&](auto x, auto y, std::size_t i, std::size_t some) {
    if (some == hn::Lanes(d)) {
      hn::StoreU(f(x, y), d, to + i);
    } else {
      StoreSome(f(x, y), d, to + i, some);
    }
  });
}

// f of doubles, for vectors of a type half as wide.
template <class D, class V = hn::Vec<D>, typename Function>
HWY_INLINE V AsDoubles(D d, V v, Function f) {
  const hn::Half<D> half;
  const hn::Repartition<double, D> wide;
  const auto low = f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, v)));
  const auto high = f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, v)));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}
template <class D, class V = hn::Vec<D>, typename Function>
HWY_INLINE V AsDoubles(D d, V a, V b, Function f) {
  const hn::Half<D> half;
  const hn::Repartition<double, D> wide;
  const auto low = f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, a)),
                     hn::PromoteTo(wide, hn::LowerHalf(half, b)));
  const auto high = f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, a)),
                      hn::PromoteTo(wide, hn::UpperHalf(half, b)));
  return hn::Combine(d, hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

// function(v) where `usual` holds for every lane; else, which is rare, one at a time.
template <class D, class V = hn::Vec<D>, class M, typename Function, typename Scalar>
HWY_INLINE V Usually(D d, V v, M usual, Function function, Scalar scalar) {
  if (HWY_LIKELY(hn::AllTrue(d, usual))) return function(v);
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = scalar(lanes[i]);
  return hn::Load(d, lanes);
}
template <class D, class V = hn::Vec<D>, class M, typename Function, typename Scalar>
HWY_INLINE V Usually(D d, V a, V b, M usual, Function function, Scalar scalar) {
  if (HWY_LIKELY(hn::AllTrue(d, usual))) return function(a, b);
  HWY_ALIGN hn::TFromD<D> left[hn::MaxLanes(D())];
  HWY_ALIGN hn::TFromD<D> right[hn::MaxLanes(D())];
  hn::Store(a, d, left);
  hn::Store(b, d, right);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) left[i] = scalar(left[i], right[i]);
  return hn::Load(d, left);
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#endif  // EBB_VECTORS_INL_HPP
