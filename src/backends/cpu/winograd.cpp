// 3x3 convolutions by Winograd's F(2x2, 3x3). The letters are those of README.md: a tile of 4x4
// data d becomes V = B^T d B, a filter g becomes U = G g G^T, and 2x2 results are A^T (U * V) A.
#include "backends/cpu/winograd.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/epilogue.hpp"
#include "backends/cpu/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/winograd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/vectors-inl.hpp"

#ifndef EBB_CPU_WINOGRAD_ONCE
#define EBB_CPU_WINOGRAD_ONCE
namespace ebb::cpu {
namespace {

using Index = std::int64_t;

constexpr Index kMostLanes = 16;
constexpr Index kMostChannels = 256;
// The most tiles that are multiplied at once.
constexpr Index kGroup = 4;
// Rows are transformed in segments of about so many floats, which stay in the first-level cache.
constexpr Index kSegmentFloats = 256;
constexpr Index kRowFloats =
    std::max((2 * kGroup + 2) * kMostChannels, kSegmentFloats) + 2 * kMostLanes;

struct Extents {
  WinogradOperands at;
  Index in_height, in_width, channels;
  Index out_height, out_width, filters;
  Index top, left;  // padding
  // All bits set for the channels of the second of two pixels.
  float second[2 * kMostChannels + kMostLanes];

  Extents(const ops::Convolution& c, const WinogradOperands& operands)
      : at(operands),
        in_height(c.windows.in[0]),
        in_width(c.windows.in[1]),
        channels(c.in_channels),
        out_height(c.windows.out[0]),
        out_width(c.windows.out[1]),
        filters(c.out_channels),
        top(c.windows.before[0]),
        left(c.windows.before[1]) {
    for (Index i = 0; i < 2 * channels + kMostLanes; ++i) {
      second[i] = std::bit_cast<float>(i / channels % 2 == 1 ? ~0U : 0U);
    }
  }
  // A band is two rows of results.
  Index bands() const noexcept { return (out_height + 1) / 2; }
  Index segment_tiles() const noexcept {
    return std::max(kGroup, (kSegmentFloats / channels - 2) / 2 / kGroup * kGroup);
  }
  const float* image(Index i) const noexcept {
    return at.data + i * in_height * in_width * channels;
  }
};

// V for the tiles of a segment. Of each row, and for each channel, a tile has two numbers one pixel
// apart in `outer` and two in `inner`; the next tile's are two pixels on.
struct Transformed {
  alignas(64) float outer[4][kRowFloats];  // d0 - d2, d1 - d3
  alignas(64) float inner[4][kRowFloats];  // d1 + d2, d2 - d1
};

// Where a vector of filters' results go, or a group of tiles' from there on.
struct Place {
  Index image, y, x, filter;
};

}  // namespace
}  // namespace ebb::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

using Lanes = hn::CappedTag<float, kMostLanes>;
using Floats = hn::Vec<Lanes>;

Index lanes() { return static_cast<Index>(hn::Lanes(Lanes())); }

// As many tiles as the registers have room for, six vectors each.
constexpr int kTiles = HWY_TARGET <= HWY_AVX3 ? kGroup : kGroup / 2;

// G times three numbers.
HWY_INLINE void transform_taps(Floats g0, Floats g1, Floats g2, Floats (&to)[4]) {
  const Floats half = hn::Set(Lanes(), 0.5F);
  const Floats ends = hn::Add(g0, g2);
  to[0] = g0;
  to[1] = hn::Mul(half, hn::Add(ends, g1));
  to[2] = hn::Mul(half, hn::Sub(ends, g1));
  to[3] = g2;
}

// U for a vector of filters from `first` on: [4][4][channel][filter].
void transform_filters(const Extents& e, Index first) {
  const Lanes d;
  const auto some = static_cast<std::size_t>(std::min(lanes(), e.filters - first));
  float* to = e.at.transformed + 16 * e.channels * first;
  for (Index c = 0; c < e.channels; ++c) {
    const auto tap = [&](Index i, Index j) HWY_ATTR {
      return LoadSome(d, e.at.filter + ((i * 3 + j) * e.channels + c) * e.filters + first, some);
    };
    Floats columns[3][4];
    for (Index j = 0; j < 3; ++j) transform_taps(tap(0, j), tap(1, j), tap(2, j), columns[j]);
    for (Index i = 0; i < 4; ++i) {
      Floats row[4];
      transform_taps(columns[0][i], columns[1][i], columns[2][i], row);
      for (Index j = 0; j < 4; ++j) {
        hn::Store(row[j], d, to + ((i * 4 + j) * e.channels + c) * lanes());
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
void transform_data(const Extents& e, const float* image, Index y, Index x, Index tiles,
                    Transformed& to) {
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

// Adds A^T (U * V) A to `y`, [tile][row * 2 + column], for tiles from `tile` on. kChannels is how
// many channels there are, or 0 where only e.channels knows.
template <int kChannels, int kCount>
HWY_INLINE void multiply(const Extents& e, const Transformed& rows, const float* filters,
                         Index tile, Floats (&y)[kCount][4]) {
  const Lanes d;
  const Index channels = kChannels == 0 ? e.channels : kChannels;
  const Index plane = channels * lanes();
  HWY_UNROLL(4)
  for (int r = 0; r < 4; ++r) {
    const float* outer = rows.outer[r] + 2 * tile * channels;
    const float* inner = rows.inner[r] + 2 * tile * channels;
    const float* f = filters + r * 4 * plane;
    Floats left[kCount], right[kCount];
    HWY_UNROLL(4)
    for (int i = 0; i < kCount; ++i) left[i] = right[i] = hn::Zero(d);
    HWY_UNROLL(3)
    for (Index c = 0; c < channels; ++c) {
      const Floats f1 = hn::Load(d, f + plane + c * lanes());
      const Floats f2 = hn::Load(d, f + 2 * plane + c * lanes());
      HWY_UNROLL(4)
      for (int i = 0; i < kCount; ++i) {
        left[i] = hn::MulAdd(f1, hn::Set(d, inner[2 * i * channels + c]), left[i]);
        right[i] = hn::MulAdd(f2, hn::Set(d, inner[(2 * i + 1) * channels + c]), right[i]);
      }
    }
    HWY_UNROLL(4)
    for (int i = 0; i < kCount; ++i) {
      const Floats sum = hn::Add(left[i], right[i]);
      right[i] = hn::Sub(left[i], right[i]);
      left[i] = sum;
    }
    HWY_UNROLL(3)
    for (Index c = 0; c < channels; ++c) {
      const Floats f0 = hn::Load(d, f + c * lanes());
      const Floats f3 = hn::Load(d, f + 3 * plane + c * lanes());
      HWY_UNROLL(4)
      for (int i = 0; i < kCount; ++i) {
        left[i] = hn::MulAdd(f0, hn::Set(d, outer[2 * i * channels + c]), left[i]);
        right[i] = hn::NegMulAdd(f3, hn::Set(d, outer[(2 * i + 1) * channels + c]), right[i]);
      }
    }
    HWY_UNROLL(4)
    for (int i = 0; i < kCount; ++i) {
      if (r < 3) {
        y[i][0] = hn::Add(y[i][0], left[i]);
        y[i][1] = hn::Add(y[i][1], right[i]);
      }
      if (r == 1) {
        y[i][2] = hn::Add(y[i][2], left[i]);
        y[i][3] = hn::Add(y[i][3], right[i]);
      } else if (r > 1) {
        y[i][2] = hn::Sub(y[i][2], left[i]);
        y[i][3] = hn::Sub(y[i][3], right[i]);
      }
    }
  }
}

// Whether all of them are finite, and their sum is.
template <int kCount>
HWY_INLINE bool are_finite(const Floats (&y)[kCount][4]) {
  Floats sum = hn::Zero(Lanes());
  HWY_UNROLL(4)
  for (int i = 0; i < kCount; ++i) {
    sum = hn::Add(sum, hn::Add(hn::Add(y[i][0], y[i][1]), hn::Add(y[i][2], y[i][3])));
  }
  const Floats zero = hn::Sub(sum, sum);  // NaN where it is not finite
  return hn::AllTrue(Lanes(), hn::Eq(zero, zero));
}

// The results of one pixel by their definition.
Floats convolve_pixel(const Extents& e, const Place& at, Floats sum, std::size_t some) {
  const Lanes d;
  for (Index i = 0; i < 9; ++i) {
    const Index y = at.y - e.top + i / 3;
    const Index x = at.x - e.left + i % 3;
    if (y < 0 || y >= e.in_height || x < 0 || x >= e.in_width) continue;
    const float* pixel = e.image(at.image) + (y * e.in_width + x) * e.channels;
    const float* f = e.at.filter + i * e.channels * e.filters + at.filter;
    for (Index c = 0; c < e.channels; ++c) {
      sum = hn::MulAdd(LoadSome(d, f + c * e.filters, some), hn::Set(d, pixel[c]), sum);
    }
  }
  return sum;
}

HWY_INLINE float* result_at(const Extents& e, const Place& at) {
  const Index pixel = (at.image * e.out_height + at.y) * e.out_width + at.x;
  return e.at.result + pixel * e.filters + at.filter;
}

// Calls each(pixel's place, its index in the group) for those pixels that the result has.
template <typename Each>
HWY_INLINE void for_each_pixel(const Extents& e, const Place& at, int tiles, Each each) {
  for (Index i = 0; i < 4 * tiles; ++i) {
    const Place pixel{at.image, at.y + i % 4 / 2, at.x + i / 4 * 2 + i % 2, at.filter};
    if (pixel.y < e.out_height && pixel.x < e.out_width) each(pixel, i);
  }
}

// A group of tiles for a vector of filters; `tile` is their place in the segment.
template <int kChannels, int kCount>
HWY_INLINE void make_group(const Extents& e, const Transformed& rows, const Place& at, Index tile) {
  const Lanes d;
  const auto some = static_cast<std::size_t>(std::min(lanes(), e.filters - at.filter));
  Floats bias = hn::Zero(d);
  if (e.at.bias != nullptr) bias = LoadSome(d, e.at.bias + at.filter, some);
  Floats y[kCount][4];
  HWY_UNROLL(4)
  for (int i = 0; i < kCount; ++i) y[i][0] = y[i][1] = y[i][2] = y[i][3] = bias;
  multiply<kChannels>(e, rows, e.at.transformed + 16 * e.channels * at.filter, tile, y);

  if (HWY_UNLIKELY(!are_finite(y))) {
    for_each_pixel(e, at, kCount, [&](const Place& pixel, Index) HWY_ATTR {
      StoreSome(convolve_pixel(e, pixel, bias, some), d, result_at(e, pixel), some);
    });
    return;
  }
  const bool whole = some == hn::Lanes(d) && at.y + 2 <= e.out_height;
  if (HWY_LIKELY(whole && at.x + 2 * kCount <= e.out_width)) {
    float* upper = result_at(e, at);
    float* lower = upper + e.out_width * e.filters;
    HWY_UNROLL(4)
    for (int i = 0; i < kCount; ++i) {
      hn::StoreU(y[i][0], d, upper + 2 * i * e.filters);
      hn::StoreU(y[i][1], d, upper + (2 * i + 1) * e.filters);
      hn::StoreU(y[i][2], d, lower + 2 * i * e.filters);
      hn::StoreU(y[i][3], d, lower + (2 * i + 1) * e.filters);
    }
    return;
  }
  HWY_ALIGN float all[4 * kCount * kMostLanes];
  HWY_UNROLL(4)
  for (int i = 0; i < kCount; ++i) {
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) hn::Store(y[i][j], d, all + (4 * i + j) * lanes());
  }
  for_each_pixel(e, at, kCount, [&](const Place& pixel, Index i) HWY_ATTR {
    std::copy_n(all + i * lanes(), some, result_at(e, pixel));
  });
}

template <int kChannels>
void make_band_of(const Extents& e, Index band) {
  const Index image = band / e.bands();
  const Index y = band % e.bands() * 2;
  const Index all_tiles = (e.out_width + 1) / 2;
  Transformed rows;
  for (Index begin = 0; begin < all_tiles; begin += e.segment_tiles()) {
    const Index tiles = std::min(e.segment_tiles(), all_tiles - begin);
    const Index rounded = (tiles + kTiles - 1) / kTiles * kTiles;
    transform_data(e, e.image(image), y - e.top, 2 * begin - e.left, rounded, rows);
    for (Index t = 0; t < tiles; t += kTiles) {
      for (Index f = 0; f < e.filters; f += lanes()) {
        const Place at{image, y, 2 * (begin + t), f};
        if (t + kTiles / 2 < tiles) {
          make_group<kChannels, kTiles>(e, rows, at, t);
        } else {
          make_group<kChannels, kTiles / 2>(e, rows, at, t);
        }
      }
    }
  }
}

void make_band(const Extents& e, Index band) {
  if (e.channels == 3) return make_band_of<3>(e, band);
  make_band_of<0>(e, band);
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

HWY_EXPORT(lanes);
HWY_EXPORT(transform_filters);
HWY_EXPORT(make_band);

// What was measured to be faster than oneDNN (docs/benchmarks.md): enough tiles for the time that
// the filters take, and at most 8/5 as many results made as are kept.
constexpr Index kLeastChannels = 2;
constexpr Index kLeastTiles = 64;

constexpr Index round_up(Index value, Index step) { return (value + step - 1) / step * step; }

void transform_all_filters(const Extents& e) {
  const Index lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  const auto transform = HWY_DYNAMIC_DISPATCH(transform_filters);
  const Index grain = 64 * 1024 / (16 * e.channels * lanes) + 1;
  parallel_for((e.filters + lanes - 1) / lanes, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) transform(e, i * lanes);
  });
}

}  // namespace

bool suits_winograd(const ops::Convolution& c) noexcept {
  const ops::Windows& w = c.windows;
  if (w.axes != 2 || c.depthwise || c.channels_first) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (w.size[i] != 3 || w.stride[i] != 1 || w.dilation[i] != 1) return false;
  }
  if (c.in_channels < kLeastChannels || c.in_channels > kMostChannels) return false;
  const Index tiles = w.batch * ((w.out[0] + 1) / 2) * ((w.out[1] + 1) / 2);
  const Index made =
      round_up(w.out[0], 2) * round_up(w.out[1], kGroup) * round_up(c.out_channels, kMostLanes);
  return tiles >= kLeastTiles && 5 * made <= 8 * w.out[0] * w.out[1] * c.out_channels;
}

std::size_t winograd_floats(const ops::Convolution& c) noexcept {
  return static_cast<std::size_t>(16 * c.in_channels * round_up(c.out_channels, kMostLanes));
}

void run_winograd(const ops::Convolution& c, const WinogradOperands& operands,
                  ops::Activation activation) {
  const Extents e(c, operands);
  transform_all_filters(e);
  const auto make = HWY_DYNAMIC_DISPATCH(make_band);
  const Index row = e.out_width * e.filters;
  // Bands of fewer multiplications than this are not worth the team.
  const Index grain = 2'000'000 / (18 * row * e.channels) + 1;
  parallel_for(c.windows.batch * e.bands(), grain, [&](Index begin, Index end) {
    for (Index band = begin; band < end; ++band) {
      make(e, band);
      const Index y = band % e.bands() * 2;
      float* results = e.at.result + (band / e.bands() * e.out_height + y) * row;
      activate(activation, c.epilogue.alpha, results, std::min<Index>(2, e.out_height - y) * row);
    }
  });
}

}  // namespace ebb::cpu
#endif
