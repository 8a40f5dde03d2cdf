// A window that moves over one to three spatial axes: what convolutions, dilations and poolings
// have in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ebb::ops {

inline constexpr std::size_t kMostSpatial = 3;
using Spatial = std::array<std::int64_t, kMostSpatial>;  // the first `axes` of it

struct Windows {
  std::size_t axes = 2;
  std::int64_t batch = 0;
  Spatial in{1, 1, 1};
  Spatial out{1, 1, 1};
  Spatial size{1, 1, 1};
  Spatial stride{1, 1, 1};
  Spatial dilation{1, 1, 1};
  Spatial before{};  // padding; after the end there is as much as the last window needs

  // How far a window reaches.
  constexpr std::int64_t reach(std::size_t axis) const noexcept {
    return (size[axis] - 1) * dilation[axis] + 1;  // arithmetic: both are at most kMostStep
  }
};

}  // namespace ebb::ops
