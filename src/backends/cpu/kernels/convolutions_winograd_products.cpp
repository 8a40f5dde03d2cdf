// Winograd's convolutions as products: see the header; the letters are those of README.md.
#include "backends/cpu/kernels/convolutions_winograd_products.hpp"

#include <algorithm>

#include "backends/cpu/items.hpp"
#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/without_sve.hpp"
#include "ops/axes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/convolutions_winograd_products.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file once for each target.
#include <hwy/highway.h>

#include "backends/cpu/kernels/convolutions_winograd_pixels-inl.hpp"
#include "backends/cpu/kernels/convolutions_winograd_transforms-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ebb::cpu::HWY_NAMESPACE {
namespace {

using winograd::Chunk;

// Where a tile's results begin.
HWY_INLINE Place place_of(const Extents& e, Index tile, Index filter) {
  const Index across = (e.out_width + 1) / 2;
  const Index row = tile / across;
  return {row / e.bands(), row % e.bands() * 2, tile % across * 2, filter};
}

// B^T times a column.
HWY_INLINE void transform_four(Floats d0, Floats d1, Floats d2, Floats d3, Floats (&to)[4]) {
  to[0] = hn::Sub(d0, d2);
  to[1] = hn::Add(d1, d2);
  to[2] = hn::Sub(d2, d1);
  to[3] = hn::Sub(d1, d3);
}

// V of a vector of channels. load(i): pixel i of the tile's sixteen; store(vector, i): number i of V.
template <typename Load, typename Store>
HWY_INLINE void transform_channels(Load load, Store store) {
  Floats columns[4][4];
  HWY_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    transform_four(load(j), load(4 + j), load(8 + j), load(12 + j), columns[j]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    Floats row[4];
    transform_four(columns[0][i], columns[1][i], columns[2][i], columns[3][i], row);
    HWY_UNROLL(4)
    for (int j = 0; j < 4; ++j) store(row[j], i * 4 + j);
  }
}

// The sixteen pixels of a tile: where each begins, and whether it has channels or is padding.
struct Pixels {
  const float* at[16];
  Index step[16];  // 1, or 0 for zeros

  Pixels(const Extents& e, const Place& place) {
    static constexpr float kZeros[kMostLanes] = {};
    const float* image = e.image(place.image);
    for (Index i = 0; i < 16; ++i) {
      const Index y = place.y - e.top + i / 4, x = place.x - e.left + i % 4;
      const bool inside = y >= 0 && y < e.in_height && x >= 0 && x < e.in_width;
      at[i] = inside ? image + (y * e.in_width + x) * e.channels : kZeros;
      step[i] = inside ? 1 : 0;
    }
  }
};

void transform_chunk(const Extents& e, const Chunk& chunk) {
  const Lanes d;
  const Index plane = Chunk::plane(chunk.count, e.channels);
  const Index whole = e.channels / lanes() * lanes();
  const auto rest = static_cast<std::size_t>(e.channels - whole);
  for (Index t = 0; t < chunk.count; ++t) {
    const Pixels pixels(e, place_of(e, chunk.first + t, 0));
    float* to = chunk.data + t * e.channels;
    for (Index c = 0; c < whole; c += lanes()) {
      transform_channels([&](int i)
                             HWY_ATTR { return hn::LoadU(d, pixels.at[i] + c * pixels.step[i]); },
                         [&](Floats v, int i) HWY_ATTR { hn::StoreU(v, d, to + i * plane + c); });
    }
    if (rest == 0) continue;
    transform_channels(
        [&](int i) HWY_ATTR { return LoadSome(d, pixels.at[i] + whole * pixels.step[i], rest); },
        [&](Floats v, int i) HWY_ATTR { StoreSome(v, d, to + i * plane + whole, rest); });
  }
}

// A^T times a column of four, A.
HWY_INLINE void transform_back(const Floats (&m)[16], Floats bias, Floats (&y)[4]) {
  Floats upper[4], lower[4];
  HWY_UNROLL(4)
  for (int j = 0; j < 4; ++j) {
    const Floats sum = hn::Add(m[4 + j], m[8 + j]);
    upper[j] = hn::Add(m[j], sum);
    lower[j] = hn::Sub(hn::Sub(m[4 + j], m[8 + j]), m[12 + j]);
  }
  y[0] = hn::Add(bias, hn::Add(upper[0], hn::Add(upper[1], upper[2])));
  y[1] = hn::Add(bias, hn::Sub(hn::Sub(upper[1], upper[2]), upper[3]));
  y[2] = hn::Add(bias, hn::Add(lower[0], hn::Add(lower[1], lower[2])));
  y[3] = hn::Add(bias, hn::Sub(hn::Sub(lower[1], lower[2]), lower[3]));
}

HWY_INLINE bool are_finite(const Floats (&y)[4]) {
  const Floats sum = hn::Add(hn::Add(y[0], y[1]), hn::Add(y[2], y[3]));
  const Floats zero = hn::Sub(sum, sum);  // NaN where it is not finite
  return hn::AllTrue(Lanes(), hn::Eq(zero, zero));
}

// One tile's results for a vector of filters, from the products for it.
HWY_INLINE void finish_vector(const Extents& e, const Limits& limits, const Place& at,
                              const float* products, Index plane) {
  const Lanes d;
  const auto some = static_cast<std::size_t>(std::min(lanes(), e.filters - at.filter));
  Floats bias = hn::Zero(d);
  if (e.at.bias != nullptr) bias = LoadSome(d, e.at.bias + at.filter, some);
  Floats m[16];
  HWY_UNROLL(16)
  for (int i = 0; i < 16; ++i) m[i] = LoadSome(d, products + i * plane, some);
  Floats y[4];
  transform_back(m, bias, y);
  const bool finite = are_finite(y);
  HWY_UNROLL(4)
  for (int i = 0; i < 4; ++i) {
    const Place pixel{at.image, at.y + i / 2, at.x + i % 2, at.filter};
    if (pixel.y >= e.out_height || pixel.x >= e.out_width) continue;
    const Floats value = HWY_LIKELY(finite) ? y[i] : convolve_pixel(e, pixel, bias, some);
    StoreSome(Within(d, limits, value), d, result_at(e, pixel), some);
  }
}

// The results of filters [first, end) from the chunk's products.
void finish_chunk(const Extents& e, const Chunk& chunk, Index first, Index end) {
  const Index plane = Chunk::plane(chunk.count, Chunk::kFilters);
  for (Index t = 0; t < chunk.count; ++t) {
    Place at = place_of(e, chunk.first + t, first);
    const float* products = chunk.products + t * Chunk::kFilters;
    for (; at.filter < end; at.filter += lanes(), products += lanes()) {
      finish_vector(e, chunk.limits, at, products, plane);
    }
  }
}

}  // namespace
}  // namespace ebb::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ebb::cpu::winograd {
namespace {

// Below it bands are as fast (docs/benchmarks.md).
constexpr Index kLeastChannels = 64;
constexpr Index kLeastFilters = 32;
// V of a chunk stays in the second-level cache, but each number of U is to be used often.
constexpr Index kChunkFloats = 256 * 1024;
constexpr Index kLeastTiles = 96;
constexpr Index kMostTiles = 256;
// Fewer products than this are not worth the team.
constexpr double kAloneProducts = 2e6;

HWY_EXPORT(lanes);
HWY_EXPORT(transform_filters);
HWY_EXPORT(transform_chunk);
HWY_EXPORT(finish_chunk);

// How the tiles are shared by threads, and what room that takes.
struct Sharing {
  Index tiles, threads, chunks, chunk;
  Index filters_plane, data_floats, product_floats;

  explicit Sharing(const ops::Convolution& c) {
    const ops::Windows& w = c.windows;
    tiles = w.batch * ((w.out[0] + 1) / 2) * ((w.out[1] + 1) / 2);
    const double products = 16.0 * static_cast<double>(tiles) * static_cast<double>(c.in_channels) *
                            static_cast<double>(c.out_channels);
    threads = products < kAloneProducts ? 1 : std::min<Index>(team_size(), tiles);
    const Index most = std::clamp(kChunkFloats / (16 * c.in_channels), kLeastTiles, kMostTiles);
    chunks = std::min(round_up((tiles + most - 1) / most, threads), tiles);
    chunk = (tiles + chunks - 1) / chunks;
    filters_plane = checked_mul(c.in_channels, blocks::rounded(c.out_channels)) + Chunk::kApart;
    data_floats = 16 * Chunk::plane(chunk, c.in_channels);
    product_floats = 16 * Chunk::plane(chunk, Chunk::kFilters);
  }
  Index thread_floats() const noexcept { return data_floats + product_floats; }
};

void transform_all_filters(const Extents& e, const Sharing& sharing) {
  const Index lanes = HWY_DYNAMIC_DISPATCH(lanes)();
  const auto transform = HWY_DYNAMIC_DISPATCH(transform_filters);
  const Index panel = blocks::panel_columns();
  const Index grain = 64 * 1024 / (16 * e.channels * lanes) + 1;
  parallel_for(round_up(e.filters, panel) / lanes, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i * lanes;
      float* to = e.at.transformed + first / panel * panel * e.channels + first % panel;
      transform(e, first, {to, sharing.filters_plane, panel});
    }
  });
}

void make_chunk(const Extents& e, const Sharing& sharing, const Chunk& chunk) {
  HWY_DYNAMIC_DISPATCH(transform_chunk)(e, chunk);
  for (Index first = 0; first < e.filters; first += Chunk::kFilters) {
    const Index end = std::min(first + Chunk::kFilters, e.filters);
    for (Index i = 0; i < 16; ++i) {
      blocks::multiply(
          {.left = {chunk.data + i * Chunk::plane(chunk.count, e.channels), e.channels, 1},
           .right = e.at.transformed + i * sharing.filters_plane + first * e.channels,
           .out = chunk.products + i * Chunk::plane(chunk.count, Chunk::kFilters),
           .out_row = Chunk::kFilters,
           .rows = chunk.count,
           .inner = e.channels,
           .columns = end - first});
    }
    HWY_DYNAMIC_DISPATCH(finish_chunk)(e, chunk, first, end);
  }
}

}  // namespace

bool are_products(const ops::Convolution& c) noexcept {
  return c.in_channels >= kLeastChannels && c.in_channels <= blocks::kBlock &&
         c.out_channels >= kLeastFilters;
}

std::size_t products_floats(const ops::Convolution& c) {
  const Sharing sharing(c);
  return static_cast<std::size_t>(checked_mul(sharing.filters_plane, 16) +
                                  sharing.threads * sharing.thread_floats());
}

void run_products(const ops::Convolution& c, const WinogradOperands& operands,
                  ops::Activation activation) {
  const Extents e(c, operands);
  const Sharing sharing(c);
  transform_all_filters(e, sharing);
  const auto limits = limits_of(activation);
  // Each thread has chunks that follow each other, and room of its own.
  parallel_for(sharing.threads, 1, [&](Index begin, Index end) {
    for (Index thread = begin; thread < end; ++thread) {
      float* room =
          operands.transformed + 16 * sharing.filters_plane + thread * sharing.thread_floats();
      const Items chunks = items_of(sharing.chunks, thread, sharing.threads);
      for (Index i = chunks.begin; i < chunks.end; ++i) {
        const Items tiles = items_of(sharing.tiles, i, sharing.chunks);
        make_chunk(e, sharing,
                   {.first = tiles.begin,
                    .count = tiles.end - tiles.begin,
                    .data = room,
                    .products = room + sharing.data_floats,
                    .limits = limits.value_or(Limits())});
      }
    }
  });
  if (limits.has_value()) return;
  const Index row = e.out_width * e.filters;
  parallel_for(c.windows.batch * e.out_height, 16 * 1024 / row + 1, [&](Index begin, Index end) {
    activate(activation, c.epilogue.alpha, e.at.result + begin * row, (end - begin) * row);
  });
}

}  // namespace ebb::cpu::winograd
#endif
