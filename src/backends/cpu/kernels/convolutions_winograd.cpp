// 3x3 convolutions by Winograd's F(2x2, 3x3). The letters are those of README.md: a tile of 4x4
// data d becomes V = B^T d B, a filter g becomes U = G g G^T, and 2x2 results are A^T (U * V) A.
#include "backends/cpu/kernels/convolutions_winograd.hpp"

#include <algorithm>
#include <cstdint>

#include "backends/cpu/kernels/convolutions_winograd_products.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/without_sve.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/convolutions_winograd.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/kernels/convolutions_winograd_pixels-inl.hpp"
#include "backends/cpu/kernels/convolutions_winograd_transforms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

// As many tiles as the registers have room for, six vectors each.
constexpr int kTiles = HWY_TARGET <= HWY_AVX3 ? winograd::kGroup : winograd::kGroup / 2;

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
void make_band_of(const SegmentedExtents& e, Index band) {
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

void make_band(const SegmentedExtents& e, Index band) {
  if (e.channels == 3) return make_band_of<3>(e, band);
  make_band_of<0>(e, band);
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu {
namespace {

using winograd::Extents;
using winograd::Index;
using winograd::kGroup;
using winograd::kMostChannels;
using winograd::kMostLanes;
using winograd::round_up;
using winograd::SegmentedExtents;

HWY_EXPORT(lanes);
HWY_EXPORT(transform_filters);
HWY_EXPORT(make_band);

// What was measured to be faster than oneDNN (docs/benchmarks.md): enough tiles for the time that
// the filters take, and at most 8/5 as many results made as are kept.
constexpr Index kLeastChannels = 2;
constexpr Index kLeastTiles = 128;

void transform_all_filters(const Extents& e) {
  const Index lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  const auto transform = HWY_DYNAMIC_DISPATCH(transform_filters);
  const Index plane = e.channels * lanes;
  const Index grain = 64 * 1024 / (16 * plane) + 1;
  parallel_for((e.filters + lanes - 1) / lanes, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      transform(e, i * lanes, {e.at.transformed + 16 * plane * i, plane, lanes});
    }
  });
}

void run_bands(const ops::Convolution& c, const WinogradOperands& operands,
               ops::Activation activation) {
  const SegmentedExtents e(c, operands);
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

}  // namespace

bool suits_winograd(const ops::Convolution& c) noexcept {
  const ops::Windows& w = c.windows;
  if (w.axes != 2 || c.depthwise || c.channels_first) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (w.size[i] != 3 || w.stride[i] != 1 || w.dilation[i] != 1) return false;
  }
  const Index most = winograd::are_products(c) ? c.in_channels : kMostChannels;
  if (c.in_channels < kLeastChannels || c.in_channels > most) return false;
  const Index tiles = w.batch * ((w.out[0] + 1) / 2) * ((w.out[1] + 1) / 2);
  const Index made =
      round_up(w.out[0], 2) * round_up(w.out[1], kGroup) * round_up(c.out_channels, kMostLanes);
  return tiles >= kLeastTiles && 5 * made <= 8 * w.out[0] * w.out[1] * c.out_channels;
}

std::size_t winograd_floats(const ops::Convolution& c) {
  if (winograd::are_products(c)) return winograd::products_floats(c);
  const std::int64_t columns = checked_mul(round_up(c.out_channels, kMostLanes), 16);
  return static_cast<std::size_t>(checked_mul(c.in_channels, columns));
}

void run_winograd(const ops::Convolution& c, const WinogradOperands& operands,
                  ops::Activation activation) {
  if (winograd::are_products(c)) return winograd::run_products(c, operands, activation);
  run_bands(c, operands, activation);
}

}  // namespace ebb::cpu
#endif
