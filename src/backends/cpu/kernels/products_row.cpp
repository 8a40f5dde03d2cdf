// One row times a matrix.
#include "backends/cpu/kernels/products_row.hpp"

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

// Eight vectors of columns at once: as many sums under way as hide the latency of one.
HWY_INLINE void eight_vectors(const RowProduct& p, std::int64_t at) {
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
    s4 = hn::MulAdd(x, hn::LoadU(d, row + 4 * lanes), s4);
    s5 = hn::MulAdd(x, hn::LoadU(d, row + 5 * lanes), s5);
    s6 = hn::MulAdd(x, hn::LoadU(d, row + 6 * lanes), s6);
    s7 = hn::MulAdd(x, hn::LoadU(d, row + 7 * lanes), s7);
  }
  // Vectors of unknown length cannot be elements of an array.
  const auto store = [&](std::int64_t i, Vec sum) HWY_ATTR {
    const std::int64_t to = at + i * lanes;
    const Vec bias = p.bias == nullptr ? hn::Zero(d) : hn::LoadU(d, p.bias + to);
    hn::StoreU(hn::Add(sum, bias), d, p.out + to);
  };
  store(0, s0), store(1, s1), store(2, s2), store(3, s3);
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
  if (p.bias != nullptr) sum = hn::Add(sum, load(p.bias + at));
  if (whole) {
    hn::StoreU(sum, d, p.out + at);
  } else {
    StoreSome(sum, d, p.out + at, count);
  }
}

void row_product(const RowProduct& p) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  std::int64_t at = 0;
  for (; at + 8 * lanes <= p.columns; at += 8 * lanes) eight_vectors(p, at);
  for (; at < p.columns; at += lanes) {
    one_vector(p, at, static_cast<std::size_t>(std::min(lanes, p.columns - at)));
  }
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {

HWY_EXPORT(row_product);

void multiply_row(const RowProduct& product) { HWY_DYNAMIC_DISPATCH(row_product)(product); }

}  // namespace ebb::cpu
#endif
