// Softmax and its logarithm over the last axis. oneDNN's lets NaN spoil one element of a row
// instead of the row.
#include <cmath>
#include <limits>

#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ops/axes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/normalisation_softmax.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SVE
using RowTag = hn::CappedTag<float, 4>;  // sums in NEON's order
#else
using RowTag = Tag;
#endif
using RowVec = hn::Vec<RowTag>;

// Calls full(i) for each whole vector of a row and part(i, how many) for what is left.
template <typename Full, typename Part>
HWY_INLINE void for_each_vector(std::int64_t count, Full full, Part part) {
  const RowTag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) full(i);
  if (i < count) part(i, static_cast<std::size_t>(count - i));
}

// The largest of a row; NaN if there is one in it.
float largest(const float* x, std::int64_t count) {
  const RowTag d;
  const RowVec lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  RowVec most = lowest;
  RowVec broken = hn::Zero(d);  // NaN where one was seen
  for_each_vector(
      count,
      [&](std::int64_t i) HWY_ATTR {
        const RowVec v = hn::LoadU(d, x + i);
        most = hn::Max(most, v);
        broken = hn::IfThenElse(hn::IsNaN(v), v, broken);
      },
      [&](std::int64_t i, std::size_t n) HWY_ATTR {
        const RowVec v = hn::IfThenElse(hn::FirstN(d, n), LoadSome(d, x + i, n), lowest);
        most = hn::Max(most, v);
        broken = hn::IfThenElse(hn::IsNaN(v), v, broken);
      });
  const bool nan = !hn::AllFalse(d, hn::IsNaN(broken));
  return nan ? std::numeric_limits<float>::quiet_NaN() : hn::GetLane(hn::MaxOfLanes(d, most));
}

// exp(x - most), written to y if kStore; gives the sum.
template <bool kStore>
float exponentials(const float* x, float* y, std::int64_t count, float most) {
  const RowTag d;
  const RowVec shift = hn::Set(d, most);
  RowVec sum = hn::Zero(d);
  for_each_vector(
      count,
      [&](std::int64_t i) HWY_ATTR {
        const RowVec e = hn::CallExp(d, hn::Sub(hn::LoadU(d, x + i), shift));
        if constexpr (kStore) hn::StoreU(e, d, y + i);
        sum = hn::Add(sum, e);
      },
      [&](std::int64_t i, std::size_t n) HWY_ATTR {
        const RowVec e = hn::CallExp(d, hn::Sub(LoadSome(d, x + i, n), shift));
        if constexpr (kStore) StoreSome(e, d, y + i, n);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, n), e));
      });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// y = x * factor + term
void scale(const float* x, float* y, std::int64_t count, float factor, float term) {
  const RowTag d;
  const RowVec f = hn::Set(d, factor);
  const RowVec t = hn::Set(d, term);
  for_each_vector(
      count,
      [&](std::int64_t i) HWY_ATTR { hn::StoreU(hn::MulAdd(hn::LoadU(d, x + i), f, t), d, y + i); },
      [&](std::int64_t i, std::size_t n)
          HWY_ATTR { StoreSome(hn::MulAdd(LoadSome(d, x + i, n), f, t), d, y + i, n); });
}

void softmax_row(const float* x, float* y, std::int64_t count) {
  const float most = largest(x, count);
  if (!std::isfinite(most)) {
    std::fill_n(y, count, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float sum = exponentials<true>(x, y, count, most);
  scale(y, y, count, 1.0F / sum, 0.0F);
}

void log_softmax_row(const float* x, float* y, std::int64_t count) {
  const float most = largest(x, count);
  if (!std::isfinite(most)) {
    std::fill_n(y, count, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const float sum = exponentials<false>(x, y, count, most);
  // Subtracted one after the other: the sum of the two may lose the smaller.
  scale(x, y, count, 1.0F, -most);
  scale(y, y, count, 1.0F, -std::log(sum));
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

HWY_EXPORT(softmax_row);
HWY_EXPORT(log_softmax_row);

using Row = void (*)(const float*, float*, std::int64_t);

void for_each_row(ops::OpCall& call, Row row) {
  const Shape& shape = call.input(0).shape;
  const std::int64_t columns = shape.dims()[shape.rank() - 1];
  if (ops::elements(shape) == 0) return;
  const std::int64_t rows = ops::elements(shape) / columns;
  parallel_for(rows, 16 * 1024 / columns + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      row(call.in<float>(0) + i * columns, call.out<float>(0) + i * columns, columns);
    }
  });
}

void softmax(ops::OpCall& call) { for_each_row(call, HWY_DYNAMIC_DISPATCH(softmax_row)); }
void log_softmax(ops::OpCall& call) { for_each_row(call, HWY_DYNAMIC_DISPATCH(log_softmax_row)); }

}  // namespace

void add_normalisation_softmax(KernelTable& table) {
  table.set(ops::op_id("Softmax"), softmax);
  table.set(ops::op_id("LogSoftmax"), log_softmax);
}

}  // namespace ebb::cpu
#endif
