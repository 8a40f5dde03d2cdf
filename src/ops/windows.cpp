#include "ops/windows.hpp"

#include <algorithm>

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/format.hpp"

namespace ebb::ops {

Spatial checked_spatial(const OpCall& call, std::size_t attribute, std::size_t axes,
                        std::int64_t least) {
  const IntList values = call.integers(attribute);
  const std::string_view name = call.spec().attributes[attribute].name;
  call.check(values.size() == axes, "{} {} were given, {} numbers are allowed", name, values, axes);
  Spatial made{1, 1, 1};
  for (std::size_t i = 0; i < axes; ++i) {
    call.check(values[i] >= least, "{} {} were given, {} or more is allowed", name, values, least);
    call.check(values[i] <= kMostStep, "{} {} were given, at most {} is allowed", name, values,
               kMostStep);
    made[i] = values[i];
  }
  return made;
}

void take_attributes(const OpCall& call, const WindowAttributes& at, Windows& windows) {
  windows.stride = checked_spatial(call, at.strides, windows.axes, 1);
  windows.dilation = checked_spatial(call, at.dilations, windows.axes, 1);
  const IntList pads = call.integers(at.pads);
  call.check(pads.size() == 2 * windows.axes, "pads {} were given, {} numbers are allowed", pads,
             2 * windows.axes);
  for (const std::int64_t pad : pads) {
    call.check(pad >= 0, "pads {} were given, 0 or more is allowed", pads);
    call.check(pad <= kMostStep, "pads {} were given, at most {} is allowed", pads, kMostStep);
  }
  for (std::size_t i = 0; i < windows.axes; ++i) windows.before[i] = pads[2 * i];
}

void take_output(const OpCall& call, std::size_t attribute, std::size_t pads, Windows& windows) {
  if (!call.numbers(attribute).empty()) {
    windows.out = checked_spatial(call, attribute, windows.axes, 0);
    return;
  }
  const IntList margins = call.integers(pads);
  for (std::size_t i = 0; i < windows.axes; ++i) {
    const std::int64_t extent =
        checked_add(windows.in[i], checked_add(margins[2 * i], margins[2 * i + 1]));
    const std::int64_t reach = windows.reach(i);
    windows.out[i] = extent < reach ? 0 : (extent - reach) / windows.stride[i] + 1;
    call.check(windows.out[i] <= kMostStep, "an extent of {} was given, at most {} is allowed",
               extent, kMostStep);
  }
}

std::int64_t take_data(const OpCall& call, std::size_t input, const Shape& data,
                       bool channels_first, std::size_t axes, std::int64_t& batch,
                       Spatial& extents) {
  call.check(data.rank() == axes + 2, "input {} of shape {} was given, rank {} is allowed", input,
             data, axes + 2);
  batch = data.dims()[0];
  for (std::size_t i = 0; i < axes; ++i) extents[i] = data.dims()[(channels_first ? 2 : 1) + i];
  return data.dims()[channels_first ? 1 : axes + 1];
}

Shape data_shape(std::int64_t batch, const Spatial& extents, std::size_t axes,
                 std::int64_t channels, bool channels_first) {
  IntList dims{batch};
  if (channels_first) dims.push_back(channels);
  for (std::size_t i = 0; i < axes; ++i) dims.push_back(extents[i]);
  if (!channels_first) dims.push_back(channels);
  return Shape(dims);
}

void check_float32(const OpCall& call, std::size_t inputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    if (call.input(i).dtype != DType::kFloat32) call.fail_dtype(i, "float32");
  }
}

}  // namespace ebb::ops
