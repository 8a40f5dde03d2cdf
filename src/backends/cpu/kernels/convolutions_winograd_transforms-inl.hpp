// Winograd's transforms of filters and data. Included once for each target.
#if defined(EBB_WINOGRAD_TRANSFORMS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef EBB_WINOGRAD_TRANSFORMS_INL_HPP
#undef EBB_WINOGRAD_TRANSFORMS_INL_HPP
#else
#define EBB_WINOGRAD_TRANSFORMS_INL_HPP
#endif

#include <hwy/highway.h>

#include "backends/cpu/kernels/convolutions_winograd_data.hpp"
#include "backends/cpu/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {

using winograd::Extents;
using winograd::FilterPlaces;
using winograd::Index;
using winograd::kMostLanes;
using winograd::kRowFloats;
using winograd::SegmentedExtents;
using winograd::Transformed;

using Lanes = hn::CappedTag<float, kMostLanes>;
using Floats = hn::Vec<Lanes>;

inline Index lanes() { return static_cast<Index>(hn::Lanes(Lanes())); }

// G times three numbers.
HWY_INLINE void transform_taps(Floats g0, Floats g1, Floats g2, Floats (&to)[4]) {
  const Floats half = hn::Set(Lanes(), 0.5F);
  const Floats ends = hn::Add(g0, g2);
  to[0] = g0;
  to[1] = hn::Mul(half, hn::Add(ends, g1));
  to[2] = hn::Mul(half, hn::Sub(ends, g1));
  to[3] = g2;
}

// U for a vector of filters from `first` on; zeros for those that there are not.
inline void transform_filters(const Extents& e, Index first, const FilterPlaces& to) {
  const Lanes d;
  const auto some = static_cast<std::size_t>(std::clamp<Index>(e.filters - first, 0, lanes()));
  const Index from = std::min(first, e.filters);
  for (Index c = 0; c < e.channels; ++c) {
    const auto tap = [&](Index i, Index j) HWY_ATTR {
      return LoadSome(d, e.at.filter + ((i * 3 + j) * e.channels + c) * e.filters + from, some);
    };
    Floats columns[3][4];
    for (Index j = 0; j < 3; ++j) transform_taps(tap(0, j), tap(1, j), tap(2, j), columns[j]);
    for (Index i = 0; i < 4; ++i) {
      Floats row[4];
      transform_taps(columns[0][i], columns[1][i], columns[2][i], row);
      for (Index j = 0; j < 4; ++j) {
        hn::Store(row[j], d, to.at + (i * 4 + j) * to.plane + c * to.channel);
      }
    }
  }
}

// Elements [begin, end) of a vector, zeros around them; reads nothing else.
HWY_INLINE Floats load_between(const float* from, Index begin, Index end) {
  const Lanes d;
  begin = std::clamp<Index>(begin, 0, lanes());
  end = std::clamp<Index>(end, 0, lanes());
#if HWY_TARGET <= HWY_AVX3
  const auto before = hn::FirstN(d, static_cast<std::size_t>(begin));
  const auto until = hn::FirstN(d, static_cast<std::size_t>(end));
  return hn::MaskedLoad(hn::AndNot(before, until), d, from);
#else
  HWY_ALIGN float some[kMostLanes] = {};
  for (Index i = begin; i < end; ++i) some[i] = from[i];
  return hn::Load(d, some);
#endif
}

// B^T times a column of four, stored as rows of V.
HWY_INLINE void store_column(Floats v0, Floats v1, Floats v2, Floats v3, float* to) {
  const Lanes d;
  hn::Store(hn::Sub(v0, v2), d, to);
  hn::Store(hn::Add(v1, v2), d, to + kRowFloats);
  hn::Store(hn::Sub(v2, v1), d, to + 2 * kRowFloats);
  hn::Store(hn::Sub(v1, v3), d, to + 3 * kRowFloats);
}

// V for a vector of each row from float `i` on. load(row, j): a vector of that row from j on.
template <typename Load>
HWY_INLINE void transform_vectors(Load load, Index channels, const float* second, Index i,
                                  Transformed& to) {
  const Lanes d;
  const auto odd = hn::MaskFromVec(hn::LoadU(d, second));
  Floats outer[4], inner[4];
  HWY_UNROLL(4)
  for (int row = 0; row < 4; ++row) {
    const Floats d0 = load(row, i);
    const Floats d1 = load(row, i + channels);
    const Floats d2 = load(row, i + 2 * channels);
    outer[row] = hn::Sub(d0, d2);
    inner[row] = hn::Add(d1, hn::IfThenElse(odd, hn::Neg(d0), d2));
  }
  store_column(outer[0], outer[1], outer[2], outer[3], to.outer[0] + i);
  store_column(inner[0], inner[1], inner[2], inner[3], to.inner[0] + i);
}

// V for `tiles` tiles whose data begins at pixel (y, x), which may lie in the padding.
inline void transform_data(const SegmentedExtents& e, const float* image, Index y, Index x,
                           Index tiles, Transformed& to) {
  static constexpr float kZeros[kRowFloats] = {};
  const Lanes d;
  const Index channels = e.channels;
  const float* rows[4];
  for (Index i = 0; i < 4; ++i) {
    const bool inside = y + i >= 0 && y + i < e.in_height;
    rows[i] = inside ? image + ((y + i) * e.in_width + x) * channels : kZeros;
  }
  const auto near = [d, rows](int row, Index i) HWY_ATTR { return hn::LoadU(d, rows[row] + i); };
  const Index begin = -x * channels;
  const Index end = (e.in_width - x) * channels;
  const auto at_edge = [begin, end, rows](int row, Index i)
                           HWY_ATTR { return load_between(rows[row] + i, begin - i, end - i); };
  Index phase = 0;
  for (Index i = 0; i < 2 * tiles * channels; i += lanes()) {
    if (HWY_LIKELY(i >= begin && i + 2 * channels + lanes() <= end)) {
      transform_vectors(near, channels, e.second + phase, i, to);
    } else {
      transform_vectors(at_edge, channels, e.second + phase, i, to);
    }
    for (phase += lanes(); phase >= 2 * channels;) phase -= 2 * channels;
  }
}

}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // EBB_WINOGRAD_TRANSFORMS_INL_HPP
