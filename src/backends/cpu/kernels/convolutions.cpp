// Convolutions, forward and backward: which way each is made.
#include "backends/cpu/kernels/convolutions.hpp"

#include <cstring>

#include "backends/cpu/kernels/convolutions_depthwise.hpp"
#include "backends/cpu/kernels/convolutions_winograd.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::Convolution;
using ops::OpCall;
using ops::Windows;

// No window touches data.
bool misses_data(const Windows& w) {
  for (std::size_t i = 0; i < w.axes; ++i) {
    if ((w.out[i] - 1) * w.stride[i] + w.reach(i) <= w.before[i]) return true;
  }
  return false;
}

// Nothing to sum over, or no data under any window: the result is zero.
bool is_trivial(const OpCall& call, const Convolution& c) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (ops::elements(call.input(i).shape) == 0) return true;
  }
  return misses_data(c.windows);
}

void clear(OpCall& call) {
  const std::int64_t count = ops::elements(call.output(0).shape);
  std::memset(call.out<float>(0), 0, static_cast<std::size_t>(count) * sizeof(float));
}

// Whether bias and activation take a pass of their own over the result.
bool leaves_epilogue(const Convolution& c, bool bias) {
  return c.epilogue.bias.given != bias || c.epilogue.activation == ops::Activation::kPrelu;
}

void convolve_by_winograd(OpCall& call, const Convolution& c, bool bias) {
  const bool rest = leaves_epilogue(c, bias);
  auto* transformed = call.workspace<float>(winograd_floats(c));
  run_winograd(c,
               {.data = call.in<float>(0),
                .filter = call.in<float>(1),
                .bias = bias ? call.in<float>(2) : nullptr,
                .result = call.out<float>(0),
                .transformed = transformed},
               rest ? ops::Activation::kLinear : c.epilogue.activation);
  if (rest) apply_epilogue(call, c.epilogue, bias);
}

void convolve_depthwise(OpCall& call, const Convolution& c, bool bias) {
  const bool rest = leaves_epilogue(c, bias);
  run_depthwise(c,
                {.data = call.in<float>(0),
                 .filter = call.in<float>(1),
                 .bias = bias ? call.in<float>(2) : nullptr,
                 .result = call.out<float>(0)},
                rest ? ops::Activation::kLinear : c.epilogue.activation);
  if (rest) apply_epilogue(call, c.epilogue, bias);
}

void convolve(OpCall& call) {
  const auto& c = call.params<Convolution>();
  if (ops::elements(call.output(0).shape) == 0) return;
  if (is_trivial(call, c)) {
    clear(call);
    if (!c.epilogue.empty()) apply_epilogue(call, c.epilogue, false);
    return;
  }
  const bool bias = c.epilogue.bias.given && !c.channels_first &&
                    is_per_column(c.epilogue.bias, call.output(0).shape);
  if (suits_winograd(c)) return convolve_by_winograd(call, c, bias);
  if (suits_depthwise(c)) return convolve_depthwise(call, c, bias);
  convolve_windows(call, c, bias);
}

void back_filter(OpCall& call) {
  const auto& c = call.params<Convolution>();
  if (is_trivial(call, c)) return clear(call);
  if (ops::elements(call.output(0).shape) == 0) return;
  convolve_windows_back_filter(call, c);
}

void back_input(OpCall& call) {
  const auto& c = call.params<Convolution>();
  if (is_trivial(call, c)) return clear(call);
  if (ops::elements(call.output(0).shape) == 0) return;
  convolve_windows_back_input(call, c);
}

}  // namespace

void add_convolutions(KernelTable& table) {
  table.set(ops::op_id("Conv2D"), convolve);
  table.set(ops::op_id("FusedConv2D"), convolve);
  table.set(ops::op_id("DepthwiseConv2dNative"), convolve);
  table.set(ops::op_id("FusedDepthwiseConv2D"), convolve);
  table.set(ops::op_id("Conv3D"), convolve);
  table.set(ops::op_id("Conv2DBackpropFilter"), back_filter);
  table.set(ops::op_id("DepthwiseConv2dNativeBackpropFilter"), back_filter);
  table.set(ops::op_id("Conv3DBackpropFilterV2"), back_filter);
  table.set(ops::op_id("Conv2DBackpropInput"), back_input);
  table.set(ops::op_id("DepthwiseConv2dNativeBackpropInput"), back_input);
  table.set(ops::op_id("Conv3DBackpropInputV2"), back_input);
}

}  // namespace ebb::cpu
