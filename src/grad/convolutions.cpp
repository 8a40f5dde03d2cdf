// Gradients of convolutions. A convolution, and what brings dy back to its data and to its filter,
// are linear in both their operands, so each one's gradients are the other two.
#include <array>

#include "grad/fused.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;
using ops::attribute_of_all;

// How the windows lie: what the three operations of a kind have in common.
struct Windows {
  Dims strides, pads, dilations;
  bool channels_first = false;
};

constexpr std::size_t kChannelsFirst = attribute_of_all(
    "channelsFirst", "Conv2D", "FusedConv2D", "DepthwiseConv2dNative", "FusedDepthwiseConv2D");
constexpr std::size_t kBackChannelsFirst =
    attribute_of_all("channelsFirst", "Conv2DBackpropFilter", "Conv2DBackpropInput");
constexpr std::size_t kActivation =
    attribute_of_all("activation", "FusedConv2D", "FusedDepthwiseConv2D");
constexpr std::size_t kAlpha =
    attribute_of_all("leakyreluAlpha", "FusedConv2D", "FusedDepthwiseConv2D");

Windows windows_of(const Backprop& call) {
  static_assert(attribute_at("Conv2D", "strides") == 0 && attribute_at("Conv2D", "pads") == 1 &&
                attribute_at("Conv2D", "dilations") == 2);
  return {call.integers(0), call.integers(1), call.integers(2)};
}

Dims spatial_of(const Shape& data, bool channels_first) {
  const Dims dims = dims_of(data);
  return channels_first ? Dims(dims.begin() + 2, dims.end())
                        : Dims(dims.begin() + 1, dims.end() - 1);
}

struct Plane {
  static Tensor forward(const Tensor& x, const Tensor& filter, const Windows& w, const Shape& y) {
    return ops::conv2d(
        x, filter,
        {w.strides, w.pads, w.dilations, spatial_of(y, w.channels_first), w.channels_first});
  }
  static Tensor to_data(const Tensor& dy, const Tensor& filter, const Windows& w, const Shape& x) {
    return ops::conv2d_backprop_input(dy, filter, dims_of(x),
                                      {w.strides, w.pads, w.dilations, w.channels_first});
  }
  static Tensor to_filter(const Tensor& x, const Tensor& dy, const Windows& w,
                          const Shape& filter) {
    return ops::conv2d_backprop_filter(x, dy, dims_of(filter),
                                       {w.strides, w.pads, w.dilations, w.channels_first});
  }
};

struct Depthwise {
  static Tensor forward(const Tensor& x, const Tensor& filter, const Windows& w, const Shape& y) {
    return ops::depthwise_conv2d_native(
        x, filter,
        {w.strides, w.pads, w.dilations, spatial_of(y, w.channels_first), w.channels_first});
  }
  static Tensor to_data(const Tensor& dy, const Tensor& filter, const Windows& w, const Shape& x) {
    return ops::depthwise_conv2d_native_backprop_input(dy, filter, dims_of(x),
                                                       {w.strides, w.pads, w.dilations});
  }
  static Tensor to_filter(const Tensor& x, const Tensor& dy, const Windows& w,
                          const Shape& filter) {
    return ops::depthwise_conv2d_native_backprop_filter(x, dy, dims_of(filter),
                                                        {w.strides, w.pads, w.dilations});
  }
};

struct Volume {
  static Tensor forward(const Tensor& x, const Tensor& filter, const Windows& w, const Shape& y) {
    return ops::conv3d(x, filter, {w.strides, w.pads, w.dilations, spatial_of(y, false)});
  }
  static Tensor to_data(const Tensor& dy, const Tensor& filter, const Windows& w, const Shape& x) {
    return ops::conv3d_backprop_input_v2(dy, filter, dims_of(x), {w.strides, w.pads, w.dilations});
  }
  static Tensor to_filter(const Tensor& x, const Tensor& dy, const Windows& w,
                          const Shape& filter) {
    return ops::conv3d_backprop_filter_v2(x, dy, dims_of(filter), {w.strides, w.pads, w.dilations});
  }
};

template <typename Kind>
constexpr bool kOrdersChannels = !std::is_same_v<Kind, Volume>;

template <typename Kind>
Windows forward_windows(const Backprop& call) {
  Windows windows = windows_of(call);
  if constexpr (kOrdersChannels<Kind>) windows.channels_first = call.boolean(kChannelsFirst);
  if (std::is_same_v<Kind, Depthwise> && windows.channels_first) call.refuse("for channels first");
  return windows;
}

template <typename Kind>
Windows backward_windows(const Backprop& call) {
  Windows windows = windows_of(call);
  if constexpr (std::is_same_v<Kind, Plane>) {
    windows.channels_first = call.boolean(kBackChannelsFirst);
  }
  return windows;
}

template <typename Kind>
void give_operands(Backprop& call, const Windows& windows, const Tensor& dz) {
  if (call.wants(0)) call.give(0, Kind::to_data(dz, call.x(1), windows, call.x_shape(0)));
  if (call.wants(1)) call.give(1, Kind::to_filter(call.x(0), dz, windows, call.x_shape(1)));
}

template <typename Kind>
void forward(Backprop& call) {
  give_operands<Kind>(call, forward_windows<Kind>(call), call.dy());
}

template <typename Kind>
void fused(Backprop& call) {
  const Windows windows = forward_windows<Kind>(call);
  const Epilogue epilogue{.activation = static_cast<ops::Activation>(call.integer(kActivation)),
                          .alpha = call.number(kAlpha),
                          .channels_first = windows.channels_first};
  const Tensor dz = through_epilogue(
      call, epilogue, [&] { return Kind::forward(call.x(0), call.x(1), windows, call.y_shape()); });
  give_operands<Kind>(call, windows, dz);
}

// Of dy and the filter: here "dy" of the gradient is of the data's shape.
template <typename Kind>
void to_data(Backprop& call) {
  const Windows windows = backward_windows<Kind>(call);
  if (call.wants(0)) call.give(0, Kind::forward(call.dy(), call.x(1), windows, call.x_shape(0)));
  if (call.wants(1)) call.give(1, Kind::to_filter(call.dy(), call.x(0), windows, call.x_shape(1)));
}

// Of the data and dy: here "dy" of the gradient is of the filter's shape.
template <typename Kind>
void to_filter(Backprop& call) {
  const Windows windows = backward_windows<Kind>(call);
  if (call.wants(0)) call.give(0, Kind::to_data(call.x(1), call.dy(), windows, call.x_shape(0)));
  if (call.wants(1)) call.give(1, Kind::forward(call.x(0), call.dy(), windows, call.x_shape(1)));
}

constexpr Keeps kForFused{.inputs = 15, .outputs = 1};

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"Conv2D", forward<Plane>, kOtherInputs},
    {"FusedConv2D", fused<Plane>, kForFused},
    {"Conv2DBackpropFilter", to_filter<Plane>, kOtherInputs},
    {"Conv2DBackpropInput", to_data<Plane>, kOtherInputs},
    {"DepthwiseConv2dNative", forward<Depthwise>, kOtherInputs},
    {"FusedDepthwiseConv2D", fused<Depthwise>, kForFused},
    {"DepthwiseConv2dNativeBackpropFilter", to_filter<Depthwise>, kOtherInputs},
    {"DepthwiseConv2dNativeBackpropInput", to_data<Depthwise>, kOtherInputs},
    {"Conv3D", forward<Volume>, kOtherInputs},
    {"Conv3DBackpropFilterV2", to_filter<Volume>, kOtherInputs},
    {"Conv3DBackpropInputV2", to_data<Volume>, kOtherInputs},
});
// clang-format on
static_assert(covers(kRows, OfFamily{"convolutions"}));

}  // namespace

std::span<const GradientRow> of_convolutions() noexcept { return kRows; }

}  // namespace ebb::gradients
