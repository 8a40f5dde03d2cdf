#include "ops/params/convolutions.hpp"

#include "ebb/base/checked.hpp"
#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/fused.hpp"
#include "ops/normed.hpp"
#include "ops/packed.hpp"
#include "ops/windows.hpp"

namespace ebb::ops {
namespace {

// Which kind of convolution: what differs between the operations that share a meaning.
struct Kind {
  std::size_t axes = 2;
  bool depthwise = false;
};

consteval std::size_t in_all(std::string_view name) {
  return attribute_of_all(name, "Conv2D", "FusedConv2D", "Conv2DBackpropFilter",
                          "Conv2DBackpropInput", "DepthwiseConv2dNative", "FusedDepthwiseConv2D",
                          "DepthwiseConv2dNativeBackpropFilter",
                          "DepthwiseConv2dNativeBackpropInput", "Conv3D", "Conv3DBackpropFilterV2",
                          "Conv3DBackpropInputV2");
}
constexpr WindowAttributes kAttributes{
    .strides = in_all("strides"), .pads = in_all("pads"), .dilations = in_all("dilations")};
constexpr std::size_t kOutputSize =
    attribute_of_all("outputSize", "Conv2D", "FusedConv2D", "DepthwiseConv2dNative",
                     "FusedDepthwiseConv2D", "Conv3D");
constexpr std::size_t kChannelsFirst = attribute_of_all(
    "channelsFirst", "Conv2D", "FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2D");
constexpr std::size_t kActivation =
    attribute_of_all("activation", "FusedConv2D", "FusedDepthwiseConv2D");
constexpr std::size_t kAlpha =
    attribute_of_all("leakyreluAlpha", "FusedConv2D", "FusedDepthwiseConv2D");

// A filter's extents; its channels must fit the data's.
void take_filter(const OpCall& call, const Shape& filter, Convolution& made) {
  const std::size_t axes = made.windows.axes;
  call.check(filter.rank() == axes + 2, "a filter of shape {} was given, rank {} is allowed",
             filter, axes + 2);
  for (std::size_t i = 0; i < axes; ++i) {
    made.windows.size[i] = filter.dims()[i];
    call.check(filter.dims()[i] > 0 && filter.dims()[i] <= kMostStep,
               "a filter of shape {} was given, spatial extents of 1 to {} are allowed", filter,
               kMostStep);
  }
  const std::int64_t in = filter.dims()[axes];
  const std::int64_t last = filter.dims()[axes + 1];
  call.check(in == made.in_channels,
             "a filter of shape {} was given for {} channels, the extent "
             "of its axis {} must be that",
             filter, made.in_channels, axes);
  made.out_channels = made.depthwise ? checked_mul(in, last) : last;
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
  take_output(call, kOutputSize, kAttributes.pads, windows);
  return made;
}

Shape result_of(const Convolution& made) {
  return data_shape(made.windows.batch, made.windows.out, made.windows.axes, made.out_channels,
                    made.channels_first);
}

template <Kind kKind>
void convolve(OpCall& call) {
  const bool channels_first = kKind.axes == 2 && call.boolean(kChannelsFirst);
  call.make(DType::kFloat32, result_of(forward<kKind>(call, channels_first)));
}

template <Kind kKind>
void fused_convolve(OpCall& call) {
  Convolution& made = forward<kKind>(call, call.boolean(kChannelsFirst));
  const Shape result = result_of(made);
  made.epilogue = checked_epilogue(call, result, call.integer(kActivation), call.number(kAlpha),
                                   made.channels_first);
  call.make(DType::kFloat32, result);
}

// An input of a number for each of so many.
void check_numbers(const OpCall& call, std::size_t input, std::int64_t count) {
  if (call.input(input).dtype != DType::kFloat32) call.fail_dtype(input, "float32");
  call.check(is_list_of(call.input(input).shape, count),
             "input {} of shape {} was given, {} numbers are allowed", input,
             call.input(input).shape, count);
}

// Inputs 2 to 5: a number for each channel.
template <Kind kKind>
void normed_convolve(OpCall& call) {
  call.check(!call.boolean(kChannelsFirst), "channels that come first were given, last is allowed");
  Convolution& made = forward<kKind>(call, false);
  made.epilogue.activation = static_cast<Activation>(call.integer(kActivation));
  made.epilogue.alpha = static_cast<float>(call.number(kAlpha));
  for (std::size_t i = 2; i < call.inputs(); ++i) check_numbers(call, i, made.out_channels);
  call.make(DType::kFloat32, result_of(made));
}

// The order of channels is told to the gradients of Conv2D only.
struct BackAttributes {
  bool channels_first;
  std::size_t shape;
};
template <Kind kKind>
BackAttributes back_attributes(const OpCall& call) {
  if (kKind.axes == 2 && !kKind.depthwise) {
    constexpr std::size_t kOrder =
        attribute_of_all("channelsFirst", "Conv2DBackpropFilter", "Conv2DBackpropInput");
    static_assert(attribute_at("Conv2DBackpropFilter", "filterShape") ==
                  attribute_at("Conv2DBackpropInput", "inputShape"));
    return {call.boolean(kOrder), attribute_at("Conv2DBackpropInput", "inputShape")};
  }
  constexpr std::size_t kShape =
      attribute_of_all("inputShape", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput");
  static_assert(kShape == attribute_of_all("filterShape", "Conv3DBackpropFilterV2",
                                           "DepthwiseConv2dNativeBackpropFilter"));
  return {false, kShape};
}

// x, dy -> the filter's gradient.
template <Kind kKind>
void back_filter(OpCall& call) {
  const BackAttributes at = back_attributes<kKind>(call);
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
  const BackAttributes at = back_attributes<kKind>(call);
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

Activation limiting_activation(const OpCall& call, std::size_t attribute) {
  const auto activation = static_cast<Activation>(call.integer(attribute));
  call.check(is_limiting(activation), "activation {} was given, linear, relu and relu6 are allowed",
             call.integer(attribute));
  return activation;
}

}  // namespace

void check_packed_separable(OpCall& call) {
  constexpr std::size_t kColumns = kAlpha, kProductActivation = kAlpha + 1;
  call.check(!call.boolean(kChannelsFirst), "channels that come first were given, last is allowed");
  Convolution made = forward<kDepthwise>(call, false);
  const Windows& windows = made.windows;
  const Shape& filter = call.input(1).shape;
  call.check(made.out_channels == made.in_channels &&
                 windows.size[0] <= kMostSeparableTaps / windows.size[1],
             "a filter of shape {} was given, one of {} taps for each channel is allowed", filter,
             kMostSeparableTaps);
  made.epilogue.activation = limiting_activation(call, kActivation);
  const std::int64_t columns = call.integer(kColumns);
  call.check(columns >= 0 && columns <= kMostStep, "{} columns were given, 0 to {} are allowed",
             columns, kMostStep);
  const Shape wanted = panels_shape(made.in_channels, columns);
  if (call.input(2).dtype != DType::kFloat32) call.fail_dtype(2, "float32");
  call.check(call.input(2).shape == wanted, "panels of shape {} were given, {} is allowed",
             call.input(2).shape, wanted);
  if (call.has(3)) check_numbers(call, 3, made.in_channels);
  if (call.has(4)) check_numbers(call, 4, columns);
  const Activation activation = limiting_activation(call, kProductActivation);
  call.params(PackedSeparable{.depthwise = made, .columns = columns, .activation = activation});
  call.make(DType::kFloat32, data_shape(windows.batch, windows.out, windows.axes, columns, false));
}

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

void add_normed_convolutions(MeaningTable& table) {
  table.set(kNormedConvolution, normed_convolve<kPlane>);
  table.set(kNormedDepthwise, normed_convolve<kDepthwise>);
}

}  // namespace ebb::ops
