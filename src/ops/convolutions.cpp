#include "ops/params/convolutions.hpp"

#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/fused.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

// Which kind of convolution: what differs between the operations that share a meaning.
struct Kind {
  std::size_t axes = 2;
  bool depthwise = false;
};

constexpr WindowAttributes kAttributes{.strides = 0, .pads = 1, .dilations = 2};

// A filter's extents; its channels must fit the data's.
void take_filter(const OpCall& call, const Shape& filter, Convolution& made) {
  const std::size_t axes = made.windows.axes;
  call.check(filter.rank() == axes + 2, "a filter of shape {} was given, rank {} is allowed",
             filter, axes + 2);
  for (std::size_t i = 0; i < axes; ++i) {
    made.windows.size[i] = filter.dims()[i];
    call.check(filter.dims()[i] > 0,
               "a filter of shape {} was given, spatial extents of 1 or "
               "more are allowed",
               filter);
  }
  const std::int64_t in = filter.dims()[axes];
  const std::int64_t last = filter.dims()[axes + 1];
  call.check(in == made.in_channels,
             "a filter of shape {} was given for {} channels, the extent "
             "of its axis {} must be that",
             filter, made.in_channels, axes);
  made.out_channels = made.depthwise ? in * last : last;
}

Convolution begin(const OpCall& call, Kind kind, bool channels_first) {
  Convolution made;
  made.windows.axes = kind.axes;
  made.depthwise = kind.depthwise;
  made.channels_first = channels_first;
  check_float32(call, 2);
  take_attributes(call, kAttributes, made.windows);
  return made;
}

// The gradient must be of the forward operation's result.
void take_gradient(const OpCall& call, std::size_t input, Convolution& made) {
  std::int64_t batch = 0;
  const Shape& dy = call.input(input).shape;
  const std::int64_t channels =
      take_data(call, input, dy, made.channels_first, made.windows.axes, batch, made.windows.out);
  call.check(batch == made.windows.batch && channels == made.out_channels,
             "a gradient of shape {} was given, batch {} and {} channels are allowed", dy,
             made.windows.batch, made.out_channels);
}

template <Kind kKind>
Convolution& forward(OpCall& call, bool channels_first) {
  Convolution& made = call.params(begin(call, kKind, channels_first));
  Windows& windows = made.windows;
  made.in_channels = take_data(call, 0, call.input(0).shape, channels_first, windows.axes,
                               windows.batch, windows.in);
  take_filter(call, call.input(1).shape, made);
  windows.out = checked_spatial(call, 3, windows.axes, 0);
  return made;
}

Shape result_of(const Convolution& made) {
  return data_shape(made.windows.batch, made.windows.out, made.windows.axes, made.out_channels,
                    made.channels_first);
}

template <Kind kKind>
void convolve(OpCall& call) {
  const bool channels_first = call.spec().attribute_count() > 4 && call.boolean(4);
  call.make(DType::kFloat32, result_of(forward<kKind>(call, channels_first)));
}

template <Kind kKind>
void fused_convolve(OpCall& call) {
  Convolution& made = forward<kKind>(call, call.boolean(4));
  const Shape result = result_of(made);
  made.epilogue =
      checked_epilogue(call, result, call.integer(5), call.number(6), made.channels_first);
  call.make(DType::kFloat32, result);
}

// The attribute that carries a shape is the last one; channelsFirst, where there is one, the one
// before it.
struct BackAttributes {
  bool channels_first;
  std::size_t shape;
};
BackAttributes back_attributes(const OpCall& call) {
  const bool has_order = call.spec().attribute_count() > 4;
  return {has_order && call.boolean(3), has_order ? 4u : 3u};
}

// x, dy -> the filter's gradient.
template <Kind kKind>
void back_filter(OpCall& call) {
  const BackAttributes at = back_attributes(call);
  Convolution& made = call.params(begin(call, kKind, at.channels_first));
  Windows& windows = made.windows;
  made.in_channels = take_data(call, 0, call.input(0).shape, at.channels_first, windows.axes,
                               windows.batch, windows.in);
  const Shape filter = call.shape(at.shape);
  take_filter(call, filter, made);
  take_gradient(call, 1, made);
  call.make(DType::kFloat32, filter);
}

// dy, filter -> the data's gradient.
template <Kind kKind>
void back_input(OpCall& call) {
  const BackAttributes at = back_attributes(call);
  Convolution& made = call.params(begin(call, kKind, at.channels_first));
  Windows& windows = made.windows;
  const Shape data = call.shape(at.shape);
  call.check(data.rank() == windows.axes + 2, "inputShape {} was given, rank {} is allowed", data,
             windows.axes + 2);
  made.in_channels =
      take_data(call, 0, data, at.channels_first, windows.axes, windows.batch, windows.in);
  take_filter(call, call.input(1).shape, made);
  take_gradient(call, 0, made);
  call.make(DType::kFloat32, data);
}

constexpr Kind kPlane{.axes = 2};
constexpr Kind kDepthwise{.axes = 2, .depthwise = true};
constexpr Kind kVolume{.axes = 3};

}  // namespace

void add_convolutions(MeaningTable& table) {
  table.set(op_id("Conv2D"), convolve<kPlane>);
  table.set(op_id("FusedConv2D"), fused_convolve<kPlane>);
  table.set(op_id("Conv2DBackpropFilter"), back_filter<kPlane>);
  table.set(op_id("Conv2DBackpropInput"), back_input<kPlane>);
  table.set(op_id("DepthwiseConv2dNative"), convolve<kDepthwise>);
  table.set(op_id("FusedDepthwiseConv2D"), fused_convolve<kDepthwise>);
  table.set(op_id("DepthwiseConv2dNativeBackpropFilter"), back_filter<kDepthwise>);
  table.set(op_id("DepthwiseConv2dNativeBackpropInput"), back_input<kDepthwise>);
  table.set(op_id("Conv3D"), convolve<kVolume>);
  table.set(op_id("Conv3DBackpropFilterV2"), back_filter<kVolume>);
  table.set(op_id("Conv3DBackpropInputV2"), back_input<kVolume>);
}

}  // namespace ebb::ops
