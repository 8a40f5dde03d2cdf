// What Winograd's convolutions work on: their extents, and data as it is transformed.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "backends/cpu/kernels/convolutions_winograd.hpp"
#include "backends/cpu/kernels/epilogue.hpp"

namespace ebb::cpu::winograd {

using Index = std::int64_t;

inline constexpr Index kMostLanes = 16;
inline constexpr Index kMostChannels = 256;
// The most tiles that are multiplied at once.
inline constexpr Index kGroup = 4;
// Rows are transformed in segments of about so many floats, which stay in the first-level cache.
inline constexpr Index kSegmentFloats = 256;
inline constexpr Index kRowFloats =
    std::max((2 * kGroup + 2) * kMostChannels, kSegmentFloats) + 2 * kMostLanes;

constexpr Index round_up(Index value, Index step) { return (value + step - 1) / step * step; }

struct Extents {
  WinogradOperands at;
  Index in_height, in_width, channels;
  Index out_height, out_width, filters;
  Index top, left;  // padding

  Extents(const ops::Convolution& c, const WinogradOperands& operands)
      : at(operands),
        in_height(c.windows.in[0]),
        in_width(c.windows.in[1]),
        channels(c.in_channels),
        out_height(c.windows.out[0]),
        out_width(c.windows.out[1]),
        filters(c.out_channels),
        top(c.windows.before[0]),
        left(c.windows.before[1]) {}
  // A band is two rows of results.
  Index bands() const noexcept { return (out_height + 1) / 2; }
  const float* image(Index i) const noexcept {
    return at.data + i * in_height * in_width * channels;
  }
};

// Where U of a vector of filters goes: sixteen planes, of a plane a vector for each channel.
struct FilterPlaces {
  float* at;
  Index plane;    // from one plane to the next
  Index channel;  // from one channel to the next
};

// Extents for bands that are made in segments.
struct SegmentedExtents : Extents {
  // All bits set for the channels of the second of two pixels.
  float second[2 * kMostChannels + kMostLanes];

  SegmentedExtents(const ops::Convolution& c, const WinogradOperands& operands)
      : Extents(c, operands) {
    for (Index i = 0; i < 2 * channels + kMostLanes; ++i) {
      second[i] = std::bit_cast<float>(i / channels % 2 == 1 ? ~0U : 0U);
    }
  }
  Index segment_tiles() const noexcept {
    return std::max(kGroup, (kSegmentFloats / channels - 2) / 2 / kGroup * kGroup);
  }
};

// V for the tiles of a segment. Of each row, and for each channel, a tile has two numbers one pixel
// apart in `outer` and two in `inner`; the next tile's are two pixels on.
struct Transformed {
  alignas(64) float outer[4][kRowFloats];  // d0 - d2, d1 - d3
  alignas(64) float inner[4][kRowFloats];  // d1 + d2, d2 - d1
};

// Tiles [first, first + count) of all images, and where a thread has room for them. Planes are so
// many floats apart that those of one number do not fall on each other in the caches.
struct Chunk {
  Index first, count;
  float* data;      // V: [16][count, channels]
  float* products;  // [16][count, kFilters]
  Limits limits;    // of results

  static constexpr Index kFilters = 64;
  static constexpr Index kApart = 32;
  static constexpr Index plane(Index tiles, Index columns) { return tiles * columns + kApart; }
};

}  // namespace ebb::cpu::winograd
