// Convolutions as products of matrices whose left-hand operand is looked up instead of written out:
//   forward      result [batch and window, out channel], a sum over [tap, in channel]
//   back data    result [batch and pixel, in channel], a sum over [tap, out channel]
//   back filter  result [tap and in channel, out channel], a sum over [batch and window]
// Looked up are data, gradient and data; the right-hand operands are filter, filter and gradient.
// The functions run on the host as well, where tests look at them.
#pragma once

#include "backends/cuda/plugin/kernels/direction.hpp"
#include "backends/cuda/plugin/kernels/windows.cuh"
#include "ops/params/convolutions.hpp"

namespace ebb::cuda {

EBB_BOTH float read_only(const float* from) {
#ifdef __CUDA_ARCH__
  return __ldg(from);
#else
  return *from;
#endif
}

// How data lies in memory: steps in elements.
template <typename Index>
struct Steps {
  Index image, pixel, channel;
};

template <typename Index>
struct TileShape {
  Volume<Index> w;
  Index in_channels, out_channels;
  Steps<Index> x, y;
  Index rows, inner, columns;
  Index inner_a_part;  // back filter: the inner axis is cut, a part for each z of the grid
};

// A place the window is at: [image, z, y, x] of results, or of data for the way back.
template <typename Index>
struct WindowPlace {
  Index base;
  Index at[3];
  bool valid;
};
// What moves against it: a tap and a channel.
template <typename Index>
struct TapReach {
  Index by[3];
  Index channel;
  bool valid;
};

template <Direction kDirection, typename Index>
EBB_BOTH WindowPlace<Index> place_of(const TileShape<Index>& s, Index i, Index count) {
  constexpr bool kBack = kDirection == Direction::kBackData;
  WindowPlace<Index> made{};
  made.valid = i < count;
  if (!made.valid) return made;
  const auto& extents = kBack ? s.w.in : s.w.out;
  const Element<Index> at = element_at(extents, Index{1}, i);
  const Index where[3] = {at.z, at.y, at.x};
  for (int axis = 0; axis < 3; ++axis) {
    made.at[axis] =
        kBack ? where[axis] + s.w.before[axis] : where[axis] * s.w.stride[axis] - s.w.before[axis];
  }
  made.base = at.image * (kBack ? s.y.image : s.x.image);
  return made;
}

template <Direction kDirection, typename Index>
EBB_BOTH TapReach<Index> reach_of(const TileShape<Index>& s, Index i, Index count) {
  constexpr bool kBack = kDirection == Direction::kBackData;
  TapReach<Index> made{};
  made.valid = i < count;
  if (!made.valid) return made;
  const Index channels = kBack ? s.out_channels : s.in_channels;
  Index tap = i / channels;
  made.channel = i % channels * (kBack ? s.y.channel : s.x.channel);
  for (int axis = 2; axis >= 0; --axis) {
    made.by[axis] = tap % s.w.size[axis] * s.w.dilation[axis];
    tap /= s.w.size[axis];
  }
  return made;
}

// The looked-up operand: data for the ways forward and to the filter, the gradient for the way
// back.
template <Direction kDirection, typename Index>
EBB_BOTH float look_up(const TileShape<Index>& s, const float* from,
                       const WindowPlace<Index>& place, const TapReach<Index>& reach) {
  if (!place.valid || !reach.valid) return 0.0F;
  Index pixel = 0;
  for (int axis = 0; axis < 3; ++axis) {
    Index at;
    if constexpr (kDirection == Direction::kBackData) {
      const Index distance = place.at[axis] - reach.by[axis];
      at = distance / s.w.stride[axis];
      if (distance < 0 || at * s.w.stride[axis] != distance || at >= s.w.out[axis]) return 0.0F;
      pixel = pixel * s.w.out[axis] + at;
    } else {
      at = place.at[axis] + reach.by[axis];
      if (at < 0 || at >= s.w.in[axis]) return 0.0F;
      pixel = pixel * s.w.in[axis] + at;
    }
  }
  const Index step = kDirection == Direction::kBackData ? s.y.pixel : s.x.pixel;
  return read_only(from + place.base + pixel * step + reach.channel);
}

// Where the result's element [place, channel] lies.
template <typename Index>
EBB_BOTH Index result_at(const Index (&extents)[3], const Steps<Index>& steps, Index place,
                         Index channel) {
  const Index pixels = positions(extents);
  return place / pixels * steps.image + place % pixels * steps.pixel + channel * steps.channel;
}

// The right-hand operand at [inner, column].
template <Direction kDirection, typename Index>
EBB_BOTH float right_at(const TileShape<Index>& s, const float* b, Index inner, Index column) {
  if constexpr (kDirection == Direction::kForward) {
    return read_only(b + inner * s.out_channels + column);
  } else if constexpr (kDirection == Direction::kBackData) {
    const Index tap = inner / s.out_channels;
    const Index out = inner % s.out_channels;
    return read_only(b + (tap * s.in_channels + column) * s.out_channels + out);
  } else {
    return read_only(b + result_at(s.w.out, s.y, inner, column));
  }
}

template <typename Index>
Steps<Index> steps_of(Index pixels, Index channels, bool channels_first) {
  return {pixels * channels, channels_first ? Index{1} : channels,
          channels_first ? pixels : Index{1}};
}

template <typename Index>
TileShape<Index> tile_shape_of(const ops::Convolution& c, Direction direction) {
  TileShape<Index> s{};
  s.w = volume_of<Index>(c.windows);
  s.in_channels = static_cast<Index>(c.in_channels);
  s.out_channels = static_cast<Index>(c.out_channels);
  s.x = steps_of(positions(s.w.in), s.in_channels, c.channels_first);
  s.y = steps_of(positions(s.w.out), s.out_channels, c.channels_first);
  const Index taps = positions(s.w.size);
  switch (direction) {
    case Direction::kForward:
      s.rows = s.w.batch * positions(s.w.out);
      s.inner = taps * s.in_channels;
      s.columns = s.out_channels;
      break;
    case Direction::kBackData:
      s.rows = s.w.batch * positions(s.w.in);
      s.inner = taps * s.out_channels;
      s.columns = s.in_channels;
      break;
    case Direction::kBackFilter:
      s.rows = taps * s.in_channels;
      s.inner = s.w.batch * positions(s.w.out);
      s.columns = s.out_channels;
      break;
  }
  s.inner_a_part = s.inner;
  return s;
}

}  // namespace ebb::cuda
