// A window that moves over one to three spatial axes: what convolutions, dilations and poolings
// have in common.
#pragma once

#include <array>
#include <cstdint>

#include "ops/op_call.hpp"

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
  std::int64_t reach(std::size_t axis) const noexcept {
    return (size[axis] - 1) * dilation[axis] + 1;
  }
};

// The attributes of a window, by their position in the table.
struct WindowAttributes {
  std::size_t strides;
  std::size_t pads;
  std::size_t dilations;
};

// Strides, paddings and dilations, checked: one (or two) for each spatial axis, in range.
void take_attributes(const OpCall& call, const WindowAttributes& at, Windows& windows);

// A list of `axes` extents that are at least `least`.
Spatial checked_spatial(const OpCall& call, std::size_t attribute, std::size_t axes,
                        std::int64_t least);

// Batch and spatial extents of the data; throws for another rank than axes + 2. Gives the channels.
std::int64_t take_data(const OpCall& call, std::size_t input, const Shape& data,
                       bool channels_first, std::size_t axes, std::int64_t& batch,
                       Spatial& extents);

// [batch, spatial..., channels], or [batch, channels, spatial...].
Shape data_shape(std::int64_t batch, const Spatial& extents, std::size_t axes,
                 std::int64_t channels, bool channels_first);

void check_float32(const OpCall& call, std::size_t inputs);

}  // namespace ebb::ops
