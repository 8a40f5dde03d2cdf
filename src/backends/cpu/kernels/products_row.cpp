// One row times a matrix.
#include "backends/cpu/kernels/products_row.hpp"

#include <algorithm>

#include "backends/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/products_row.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vec = hn::Vec<Tag>;

HWY_INLINE Vec finished(const RowProduct& p, Vec sum, Vec bias) {
  return Within(Tag(), p.limits, hn::Add(sum, bias));
}

// So many vectors of columns at once, four or eight: sums under way that hide the latency of one.
template <int kVectors>
HWY_INLINE void some_vectors(const RowProduct& p, std::int64_t at) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  Vec s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  const float* row = p.matrix + at;
  for (std::int64_t k = 0; k < p.inner; ++k, row += p.columns) {
    const Vec x = hn::Set(d, p.row[k]);
    s0 = hn::MulAdd(x, hn::LoadU(d, row), s0);
    s1 = hn::MulAdd(x, hn::LoadU(d, row + lanes), s1);
    s2 = hn::MulAdd(x, hn::LoadU(d, row + 2 * lanes), s2);
    s3 = hn::MulAdd(x, hn::LoadU(d, row + 3 * lanes), s3);
    if constexpr (kVectors == 4) continue;
    s4 = hn::MulAdd(x, hn::LoadU(d, row + 4 * lanes), s4);
    s5 = hn::MulAdd(x, hn::LoadU(d, row + 5 * lanes), s5);
    s6 = hn::MulAdd(x, hn::LoadU(d, row + 6 * lanes), s6);
    s7 = hn::MulAdd(x, hn::LoadU(d, row + 7 * lanes), s7);
  }
  // Vectors of unknown length cannot be elements of an array.
  const auto store = [&](std::int64_t i, Vec sum) HWY_ATTR {
    const std::int64_t to = at + i * lanes;
    const Vec bias = p.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, p.bias + to);
    hn::StoreU(finished(p, sum, bias), d, p.out + to);
  };
  store(0, s0), store(1, s1), store(2, s2), store(3, s3);
  if constexpr (kVectors == 4) return;
  store(4, s4), store(5, s5), store(6, s6), store(7, s7);
}

// One vector of columns, or what is left of one.
HWY_INLINE void one_vector(const RowProduct& p, std::int64_t at, std::size_t count) {
  const Tag d;
  const bool whole = count == hn::Lanes(d);
  const auto load = [&](const float* from)
                        HWY_ATTR { return whole ? hn::LoadU(d, from) : LoadSome(d, from, count); };
  Vec sum = hn::Zero(d);
  const float* row = p.matrix + at;
  for (std::int64_t k = 0; k < p.inner; ++k, row += p.columns) {
    sum = hn::MulAdd(hn::Set(d, p.row[k]), load(row), sum);
  }
  sum = finished(p, sum, p.bias == nullptr ? hn::Zero(d) : load(p.bias + at));
  if (whole) {
    hn::StoreU(sum, d, p.out + at);
  } else {
    StoreSome(sum, d, p.out + at, count);
  }
}

// Columns [at, end).
void row_product(const RowProduct& p, std::int64_t at, std::int64_t end) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  for (; at + 8 * lanes <= end; at += 8 * lanes) some_vectors<8>(p, at);
  for (; at + 4 * lanes <= end; at += 4 * lanes) some_vectors<4>(p, at);
  for (; at < end; at += lanes) {
    one_vector(p, at, static_cast<std::size_t>(std::min(lanes, end - at)));
  }
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(row_product);

void multiply_row(const RowProduct& p) {
  // A thread's part is as long as it takes another to hear of it, and of as many columns as vectors have twice.
  constexpr std::int64_t kLeastElements = 1 << 13, kTogether = 32;
  const std::int64_t strips = (p.columns + kTogether - 1) / kTogether;
  const std::int64_t grain = std::max<std::int64_t>(1, kLeastElements / (p.inner * kTogether));
  parallel_apart(strips, grain, [p](std::int64_t begin, std::int64_t end) {
    HWY_DYNAMIC_DISPATCH(row_product)
    (p, begin * kTogether, std::min(end * kTogether, p.columns));
  });
}

}  // namespace ebb::cpu
#endif
