// A window over data of two or three spatial axes, as kernels go over it: plain numbers, in 32 bits
// where they fit. The functions run on the host as well, where tests look at them.
#pragma once

#include <cstdint>

#include "backends/cuda/plugin/kernels/both.cuh"
#include "ops/params/windows.hpp"

namespace ebb::cuda {

// A plane is a volume of depth one.
template <typename Index>
struct Volume {
  Index batch;
  Index in[3];
  Index out[3];
  Index size[3];
  Index stride[3];
  Index dilation[3];
  Index before[3];
};

template <typename Index>
Volume<Index> volume_of(const ops::Windows& w) {
  Volume<Index> made{};
  made.batch = static_cast<Index>(w.batch);
  const std::size_t shift = 3 - w.axes;
  for (std::size_t i = 0; i < 3; ++i) {
    const bool own = i >= shift;
    const auto take = [&](const ops::Spatial& from, std::int64_t otherwise) {
      return static_cast<Index>(own ? from[i - shift] : otherwise);
    };
    made.in[i] = take(w.in, 1);
    made.out[i] = take(w.out, 1);
    made.size[i] = take(w.size, 1);
    made.stride[i] = take(w.stride, 1);
    made.dilation[i] = take(w.dilation, 1);
    made.before[i] = take(w.before, 0);
  }
  return made;
}

// Whether every position and element index fits 32 bits.
inline bool fits_32_bits(const ops::Windows& w, std::int64_t channels) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  std::int64_t in = w.batch * channels;
  std::int64_t out = w.batch * channels;
  for (std::size_t i = 0; i < w.axes; ++i) {
    if (w.stride[i] >= kMost || w.dilation[i] >= kMost || w.before[i] >= kMost) return false;
    if (w.out[i] * w.stride[i] + w.reach(i) + w.before[i] >= kMost) return false;
    in *= w.in[i];
    out *= w.out[i];
  }
  return in < kMost && out < kMost;
}

template <typename Index>
EBB_BOTH Index positions(const Index (&extents)[3]) {
  return extents[0] * extents[1] * extents[2];
}

// The taps of one window along one axis that lie on data: [first, last), tap t at start + t *
// dilation.
template <typename Index>
struct Taps {
  Index start;
  Index first;
  Index last;
};

template <typename Index>
EBB_BOTH Taps<Index> taps_of(const Volume<Index>& w, int axis, Index out) {
  const Index dilation = w.dilation[axis];
  const Index start = out * w.stride[axis] - w.before[axis];
  const Index first = start < 0 ? (-start + dilation - 1) / dilation : 0;
  const Index room = w.in[axis] - start;
  Index last = room <= 0 ? 0 : (room - 1) / dilation + 1;
  last = last < w.size[axis] ? last : w.size[axis];
  return {start, first, last < first ? first : last};
}

// The windows along one axis that may have a tap at `at`: [first, last). One in between has it
// where tap_at() is not negative.
template <typename Index>
struct Covering {
  Index first;
  Index last;
};

template <typename Index>
EBB_BOTH Covering<Index> covering(const Volume<Index>& w, int axis, Index at) {
  const Index end = at + w.before[axis];
  const Index begin = end - (w.size[axis] - 1) * w.dilation[axis];
  const Index first = begin <= 0 ? 0 : (begin + w.stride[axis] - 1) / w.stride[axis];
  const Index last = end / w.stride[axis] + 1;
  return {first, last < w.out[axis] ? last : w.out[axis]};
}

// Which tap of window `out` lies at `at`; -1: none. Pre: `out` is one of covering().
template <typename Index>
EBB_BOTH Index tap_at(const Volume<Index>& w, int axis, Index out, Index at) {
  const Index distance = at + w.before[axis] - out * w.stride[axis];
  return distance % w.dilation[axis] == 0 ? distance / w.dilation[axis] : -1;
}

// visit(position in the image of data, tap) for each tap on data of the window at (z, y, x); gives
// how many there were.
template <typename Index, typename Visit>
EBB_BOTH Index for_each_tap(const Volume<Index>& w, Index z, Index y, Index x, Visit visit) {
  const Taps<Index> zs = taps_of(w, 0, z);
  const Taps<Index> ys = taps_of(w, 1, y);
  const Taps<Index> xs = taps_of(w, 2, x);
  for (Index i = zs.first; i < zs.last; ++i) {
    const Index plane = (zs.start + i * w.dilation[0]) * w.in[1];
    for (Index j = ys.first; j < ys.last; ++j) {
      const Index line = (plane + ys.start + j * w.dilation[1]) * w.in[2];
      for (Index k = xs.first; k < xs.last; ++k) {
        visit(line + xs.start + k * w.dilation[2], (i * w.size[1] + j) * w.size[2] + k);
      }
    }
  }
  return (zs.last - zs.first) * (ys.last - ys.first) * (xs.last - xs.first);
}

// visit(position in the image of results) for each window with a tap at (z, y, x), in their order.
template <typename Index, typename Visit>
EBB_BOTH void for_each_window(const Volume<Index>& w, Index z, Index y, Index x, Visit visit) {
  const Covering<Index> zs = covering(w, 0, z);
  const Covering<Index> ys = covering(w, 1, y);
  const Covering<Index> xs = covering(w, 2, x);
  for (Index i = zs.first; i < zs.last; ++i) {
    if (tap_at(w, 0, i, z) < 0) continue;
    for (Index j = ys.first; j < ys.last; ++j) {
      if (tap_at(w, 1, j, y) < 0) continue;
      for (Index k = xs.first; k < xs.last; ++k) {
        if (tap_at(w, 2, k, x) < 0) continue;
        visit((i * w.out[1] + j) * w.out[2] + k);
      }
    }
  }
}

// Where an element lies: [batch, z, y, x, channel], row-major.
template <typename Index>
struct Element {
  Index image, z, y, x, channel;
};

template <typename Index>
EBB_BOTH Element<Index> element_at(const Index (&extents)[3], Index channels, Index at) {
  Element<Index> made;
  made.channel = at % channels;
  at /= channels;
  made.x = at % extents[2];
  at /= extents[2];
  made.y = at % extents[1];
  at /= extents[1];
  made.z = at % extents[0];
  made.image = at / extents[0];
  return made;
}

}  // namespace ebb::cuda
