// Casts that take the compiler's loops long: from float32 to int32, and between float16 and
// float32.
#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/elementwise_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise_cast_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

// The rest of a row, and what vectors cannot: an element at a time.
template <typename From, typename To>
void CastEach(const From* x, To* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] = convert<To>(x[i]);
}

void FloatToInt(const void* x, void* y, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<std::int32_t*>(y);
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  const auto limit = hn::Set(d, 0x1p31f);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, from + i);
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Abs(v), limit)))) {
      hn::StoreU(hn::ConvertTo(di, v), di, to + i);
    } else {
      CastEach(from + i, to + i, lanes);
    }
  }
  CastEach(from + i, to + i, count - i);
}

// Below AVX2 there are no instructions for float16.
#if HWY_TARGET <= HWY_AVX2
constexpr bool kHalves = true;
#else
constexpr bool kHalves = false;
#endif

void HalfToFloat(const void* x, void* y, std::int64_t n) {
  const auto* from = static_cast<const Float16*>(x);
  auto* to = static_cast<float*>(y);
  const auto count = static_cast<std::size_t>(n);
  std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  const auto* halves = static_cast<const hwy::float16_t*>(x);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, halves + i)), d, to + i);
  }
#endif
  CastEach(from + i, to + i, count - i);
}

void FloatToHalf(const void* x, void* y, std::int64_t n) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<Float16*>(y);
  const auto count = static_cast<std::size_t>(n);
  std::size_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  auto* halves = static_cast<hwy::float16_t*>(y);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, from + i)), half, halves + i);
  }
#endif
  CastEach(from + i, to + i, count - i);
}

CastRow FindCast(DType from, DType to) {
  if (from == DType::kFloat32 && to == DType::kInt32) return FloatToInt;
  if (kHalves && from == DType::kFloat16 && to == DType::kFloat32) return HalfToFloat;
  if (kHalves && from == DType::kFloat32 && to == DType::kFloat16) return FloatToHalf;
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(FindCast);

CastRow vector_cast_row(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(FindCast)(from, to); }

}  // namespace ebb::cpu
#endif
