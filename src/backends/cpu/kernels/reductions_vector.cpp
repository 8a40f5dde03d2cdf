#include <limits>

#include "backends/cpu/kernels/reductions_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/reductions_vector.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SVE
using SumTag = hn::CappedTag<float, 4>;  // sums in NEON's order
using WideTag = hn::CappedTag<double, 2>;
#else
using SumTag = Tag;
using WideTag = hn::ScalableTag<double>;
#endif

// Four accumulators hide the latency, and keep the rounding of long sums small.
float Sum(const float* HWY_RESTRICT x, std::int64_t n) {
  const SumTag d;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, x + i));
    b = hn::Add(b, hn::LoadU(d, x + i + lanes));
    c = hn::Add(c, hn::LoadU(d, x + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, x + i + 3 * lanes));
  }
  for (; i + lanes <= count; i += lanes) a = hn::Add(a, hn::LoadU(d, x + i));
  if (i < count) b = hn::Add(b, LoadSome(d, x + i, count - i));
  const auto all = hn::Add(hn::Add(a, b), hn::Add(c, e));
  return hn::GetLane(hn::SumOfLanes(d, all));
}

HWY_INLINE hn::Vec<WideTag> LoadWide(const float* x) {
  return hn::PromoteTo(WideTag(), hn::LoadU(hn::Rebind<float, WideTag>(), x));
}

double WideSum(const float* HWY_RESTRICT x, std::int64_t n) {
  const WideTag d;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    a = hn::Add(a, LoadWide(x + i));
    b = hn::Add(b, LoadWide(x + i + lanes));
    c = hn::Add(c, LoadWide(x + i + 2 * lanes));
    e = hn::Add(e, LoadWide(x + i + 3 * lanes));
  }
  const auto all = hn::Add(hn::Add(a, b), hn::Add(c, e));
  double sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < count; ++i) sum += static_cast<double>(x[i]);
  return sum;
}

template <bool kMax>
float Extreme(const float* HWY_RESTRICT x, std::int64_t n) {
  const Tag d;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  const auto better = [](auto p, auto q) { return kMax ? hn::Max(p, q) : hn::Min(p, q); };
  auto best = hn::Set(d, x[0]);
  auto nan = hn::IsNaN(best);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    nan = hn::Or(nan, hn::IsNaN(v));
    best = better(best, v);
  }
  float result = hn::GetLane(kMax ? hn::MaxOfLanes(d, best) : hn::MinOfLanes(d, best));
  bool has_nan = !hn::AllFalse(d, nan);
  for (; i < count; ++i) {
    has_nan = has_nan || x[i] != x[i];
    result = (kMax ? x[i] > result : x[i] < result) ? x[i] : result;
  }
  return has_nan ? std::numeric_limits<float>::quiet_NaN() : result;
}

void AddTo(const float* HWY_RESTRICT x, float* HWY_RESTRICT to, std::int64_t n) {
  const Tag d;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, x + i)), d, to + i);
  }
  for (; i < count; ++i) to[i] += x[i];
}

void WideAddTo(const float* HWY_RESTRICT x, double* HWY_RESTRICT to, std::int64_t n) {
  const WideTag d;
  const auto count = static_cast<std::size_t>(n);
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), LoadWide(x + i)), d, to + i);
  }
  for (; i < count; ++i) to[i] += static_cast<double>(x[i]);
}

const FloatReductions* Reductions() {
  static constexpr FloatReductions table{.sum = Sum,
                                         .max = Extreme<true>,
                                         .min = Extreme<false>,
                                         .add_to = AddTo,
                                         .wide_sum = WideSum,
                                         .wide_add_to = WideAddTo};
  return &table;
}

}  // namespace HWY_NAMESPACE
}  // namespace ebb::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(Reductions);

const FloatReductions& float_reductions() {
  static const FloatReductions* const table = HWY_DYNAMIC_DISPATCH(Reductions)();
  return *table;
}

}  // namespace ebb::cpu
#endif
