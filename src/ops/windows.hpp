// Checks that convolutions, dilations and poolings share.
#pragma once

#include "ops/op_call.hpp"
#include "ops/params/windows.hpp"

namespace ebb::ops {

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

// The extents of the result: those of the attribute, or, where it has none, of all windows that
// lie within the data and its padding. Pre: the rest of the windows is known.
void take_output(const OpCall& call, std::size_t attribute, std::size_t pads, Windows& windows);

// Batch and spatial extents of the data; throws for another rank than axes + 2. Gives the channels.
std::int64_t take_data(const OpCall& call, std::size_t input, const Shape& data,
                       bool channels_first, std::size_t axes, std::int64_t& batch,
                       Spatial& extents);

// [batch, spatial..., channels], or [batch, channels, spatial...].
Shape data_shape(std::int64_t batch, const Spatial& extents, std::size_t axes,
                 std::int64_t channels, bool channels_first);

void check_float32(const OpCall& call, std::size_t inputs);

}  // namespace ebb::ops
