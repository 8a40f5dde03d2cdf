// Convolutions, forward and backward, by oneDNN. Data stays as it lies in memory; filters are
// reordered as oneDNN likes them, which costs little beside the convolution itself.
#include <algorithm>
#include <array>
#include <cstring>

#include "backends/cpu/dnn_run.hpp"
#include "backends/cpu/kernels/convolutions.hpp"
#include "backends/cpu/kernels/epilogue.hpp"
#include "backends/cpu/team.hpp"
#include "ops/axes.hpp"

namespace ebb::cpu {
namespace {

using ops::Convolution;
using ops::OpCall;
using ops::Spatial;
using ops::Windows;

constexpr std::size_t kMostDims = ops::kMostSpatial + 3;  // groups, out, in, spatial

struct Layout {
  std::array<std::int64_t, kMostDims> dims{};
  std::array<std::int64_t, kMostDims> strides{};
  std::size_t rank = 0;

  void add(std::int64_t extent, std::int64_t stride) {
    dims[rank] = extent;
    strides[rank++] = stride;
  }
  DnnDesc desc() const { return desc_of(Dims(dims.data(), rank), Dims(strides.data(), rank)); }
  DnnDesc any() const { return any_layout(Dims(dims.data(), rank)); }
};

// oneDNN names the axes batch, channels, spatial, whatever their order in memory. `used` of the
// spatial extents take part, of `whole` in memory.
Layout data_layout(const Convolution& c, std::int64_t channels, const Spatial& used,
                   const Spatial& whole) {
  const std::size_t axes = c.windows.axes;
  Spatial strides{};
  std::int64_t step = c.channels_first ? 1 : channels;
  for (std::size_t i = axes; i-- > 0;) {
    strides[i] = step;
    step *= whole[i];
  }
  Layout made;
  made.add(c.windows.batch, c.channels_first ? step * channels : step);
  made.add(channels, c.channels_first ? step : 1);
  for (std::size_t i = 0; i < axes; ++i) made.add(used[i], strides[i]);
  return made;
}

// [spatial..., in, out]; depthwise, a group for each channel: [spatial..., group, 1, out].
Layout filter_layout(const Convolution& c) {
  const std::int64_t groups = c.depthwise ? c.in_channels : 1;
  const std::int64_t in = c.in_channels / groups;
  const std::int64_t out = c.out_channels / groups;
  Layout made;
  if (c.depthwise) made.add(groups, out);
  made.add(out, 1);
  made.add(in, c.depthwise ? 1 : out);
  std::int64_t step = c.in_channels * out;
  Spatial strides{};
  for (std::size_t i = c.windows.axes; i-- > 0;) {
    strides[i] = step;
    step *= c.windows.size[i];
  }
  for (std::size_t i = 0; i < c.windows.axes; ++i) made.add(c.windows.size[i], strides[i]);
  return made;
}

// How oneDNN is to see the windows: it wants to know the padding after the end, which may lack up
// to a stride, and no data beyond that.
struct Geometry {
  Spatial used{1, 1, 1};
  Spatial dilation{};
  Spatial after{};
  bool cropped = false;

  explicit Geometry(const Windows& w) {
    for (std::size_t i = 0; i < w.axes; ++i) {
      const std::int64_t needed = (w.out[i] - 1) * w.stride[i] + w.reach(i) - w.before[i];
      used[i] = w.in[i];
      after[i] = needed - w.in[i];
      dilation[i] = w.dilation[i] - 1;
      if (after[i] + w.stride[i] < 0) {
        used[i] = needed;
        after[i] = 0;
        cropped = true;
      }
    }
  }
};

struct Layouts {
  Geometry geometry;
  Layout source;
  Layout filter;
  Layout result;

  explicit Layouts(const Convolution& c)
      : geometry(c.windows),
        source(data_layout(c, c.in_channels, geometry.used, c.windows.in)),
        filter(filter_layout(c)),
        result(data_layout(c, c.out_channels, c.windows.out, c.windows.out)) {}

  // Channels that are not last, and a part of the data, suit no fast kernel of oneDNN's.
  bool reorder_source(const Convolution& c) const { return c.channels_first || geometry.cropped; }
  DnnDesc source_desc(const Convolution& c) const {
    return reorder_source(c) ? source.any() : source.desc();
  }
  DnnDesc result_desc(const Convolution& c) const {
    return c.channels_first ? result.any() : result.desc();
  }
};

double flops(const Convolution& c) {
  double work = 2.0 * static_cast<double>(c.windows.batch) * static_cast<double>(c.out_channels) *
                static_cast<double>(c.depthwise ? 1 : c.in_channels);
  for (std::size_t i = 0; i < c.windows.axes; ++i) {
    work *= static_cast<double>(c.windows.out[i]) * static_cast<double>(c.windows.size[i]);
  }
  return work;
}

DnnPrimitiveDesc describe_forward(const Convolution& c, const Layouts& layouts, bool bias,
                                  dnnl_prop_kind_t kind) {
  const Geometry& g = layouts.geometry;
  Layout per_channel;
  per_channel.add(c.out_channels, 1);
  const DnnDesc bias_desc = bias ? per_channel.desc() : DnnDesc();
  const DnnAttributes attr = attributes();
  return describe("a convolution", dnn().convolution_forward_primitive_desc_create, kind,
                  dnnl_convolution_direct, layouts.source_desc(c).get(), layouts.filter.any().get(),
                  bias_desc.get(), layouts.result_desc(c).get(), c.windows.stride.data(),
                  g.dilation.data(), c.windows.before.data(), g.after.data(), attr.get());
}

std::vector<Plan::Argument> arguments_of(const Layouts& layouts, std::array<int, 3> ids,
                                         Plan::Role source, Plan::Role filter, Plan::Role result) {
  std::vector<Plan::Argument> arguments;
  arguments.push_back({ids[0], source, layouts.source.desc()});
  arguments.push_back({ids[1], filter, layouts.filter.desc()});
  arguments.push_back({ids[2], result, layouts.result.desc()});
  return arguments;
}

constexpr Plan::Role kIn = Plan::Role::kInput;
constexpr Plan::Role kOut = Plan::Role::kOutput;

Plan make_forward(const Convolution& c, bool bias) {
  const bool alone = flops(c) < kAloneFlops;
  Alone guard(alone);
  const Layouts layouts(c);
  const DnnPrimitiveDesc desc = describe_forward(c, layouts, bias, dnnl_forward_inference);
  std::vector<Plan::Argument> arguments =
      arguments_of(layouts, {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST}, kIn, kIn, kOut);
  if (bias) {
    Layout per_channel;
    per_channel.add(c.out_channels, 1);
    arguments.push_back({DNNL_ARG_BIAS, kIn, per_channel.desc()});
  }
  return Plan(desc, std::move(arguments), alone);
}

// oneDNN's functions for the two gradients differ in the bias that one of them takes: `no_bias`.
template <typename Create, typename... NoBias>
Plan make_back(const Convolution& c, std::array<int, 3> ids, Plan::Role source, Plan::Role filter,
               Create create, NoBias... no_bias) {
  const bool alone = flops(c) < kAloneFlops;
  Alone guard(alone);
  const Layouts layouts(c);
  const Geometry& g = layouts.geometry;
  const DnnPrimitiveDesc hint = describe_forward(c, layouts, false, dnnl_forward_training);
  const DnnAttributes attr = attributes();
  const DnnPrimitiveDesc desc = describe(
      "a convolution's gradient", create, dnnl_convolution_direct, layouts.source_desc(c).get(),
      layouts.filter.any().get(), no_bias..., layouts.result_desc(c).get(), c.windows.stride.data(),
      g.dilation.data(), c.windows.before.data(), g.after.data(), hint.get(), attr.get());
  return Plan(desc, arguments_of(layouts, ids, source, filter, kIn), alone);
}

Plan make_back_data(const Convolution& c) {
  return make_back(c, {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST}, kOut, kIn,
                   dnn().convolution_backward_data_primitive_desc_create);
}

Plan make_back_weights(const Convolution& c) {
  return make_back(c, {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST}, kIn, kOut,
                   dnn().convolution_backward_weights_primitive_desc_create, nullptr);
}

PlanKey key(PlanKind kind, const Convolution& c, bool bias) {
  const Windows& w = c.windows;
  PlanKey key = key_of(kind);
  key.add(static_cast<std::int64_t>(w.axes)).add(w.batch).add(c.in_channels).add(c.out_channels);
  key.add(c.depthwise + 2 * c.channels_first + 4 * bias);
  for (const Spatial* part : {&w.in, &w.out, &w.size, &w.stride, &w.dilation, &w.before}) {
    key.add(Dims(part->data(), w.axes));
  }
  return key;
}

}  // namespace

void convolve_windows(OpCall& call, const Convolution& c, bool bias) {
  Plan& plan = PlanCache::here().get(key(PlanKind::kConvolution, c, bias),
                                     [&] { return make_forward(c, bias); });
  const std::array<const void*, 4> data{call.in<float>(0), call.in<float>(1), call.out<float>(0),
                                        bias ? call.in<float>(2) : nullptr};
  run_plan(call, plan, std::span(data).first(bias ? 4 : 3));
  if (!c.epilogue.empty()) apply_epilogue(call, c.epilogue, bias);
}

void convolve_windows_back_filter(OpCall& call, const Convolution& c) {
  Plan& plan = PlanCache::here().get(key(PlanKind::kConvolutionBackWeights, c, false),
                                     [&] { return make_back_weights(c); });
  const std::array<const void*, 3> data{call.in<float>(0), call.out<float>(0), call.in<float>(1)};
  run_plan(call, plan, data);
}

void convolve_windows_back_input(OpCall& call, const Convolution& c) {
  // Data that no window reached has no gradient, and oneDNN does not see it.
  if (Geometry(c.windows).cropped) {
    std::memset(call.out<float>(0), 0,
                static_cast<std::size_t>(ops::elements(call.output(0).shape)) * sizeof(float));
  }
  Plan& plan = PlanCache::here().get(key(PlanKind::kConvolutionBackData, c, false),
                                     [&] { return make_back_data(c); });
  const std::array<const void*, 3> data{call.out<float>(0), call.in<float>(1), call.in<float>(0)};
  run_plan(call, plan, data);
}

}  // namespace ebb::cpu
