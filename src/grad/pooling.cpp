// Gradients of poolings. Averages are linear; a maximum hands dy to the element that it is.
#include <algorithm>
#include <array>

#include "ebb/base/checked.hpp"
#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_of_all;

consteval std::size_t in_all(std::string_view name) {
  return attribute_of_all(name, "AvgPool", "AvgPool3D", "AvgPoolGrad", "AvgPool3DGrad", "MaxPool",
                          "MaxPool3D", "MaxPoolGrad", "MaxPool3DGrad", "MaxPoolWithArgmax");
}

struct Windows {
  Dims size, strides, pads, dilations;
};

Windows windows_of(const Backprop& call) {
  return {call.integers(in_all("filterSize")), call.integers(in_all("strides")),
          call.integers(in_all("pads")), call.integers(in_all("dilations"))};
}

Dims spatial_of(const Shape& data) {
  const Dims dims = dims_of(data);
  return Dims(dims.begin() + 1, dims.end() - 1);
}

// Which part of each window along one axis lies on the data.
std::vector<float> parts_on_data(const Windows& w, std::size_t axis, std::int64_t in,
                                 std::int64_t out) {
  std::vector<float> parts;
  for (std::int64_t o = 0; o < out; ++o) {
    const std::int64_t first =
        checked_sub(checked_mul(o, w.strides[axis]), w.pads[checked_mul(axis, 2u)]);
    std::int64_t inside = 0;
    for (std::int64_t tap = 0; tap < w.size[axis]; ++tap) {
      const std::int64_t at = checked_add(first, checked_mul(tap, w.dilations[axis]));
      inside += at >= 0 && at < in ? 1 : 0;
    }
    parts.push_back(static_cast<float>(inside) / static_cast<float>(w.size[axis]));
  }
  return parts;
}

// The average is over what lies on the data, the operation that brings dy back divides by the whole
// window: what one is of the other, for each result. None where that is 1 everywhere.
Tensor part_on_data(const Windows& w, const Shape& data, const Shape& result) {
  Tensor product;
  for (std::size_t axis = 0; axis < w.size.size(); ++axis) {
    const std::int64_t out = result.dims()[axis + 1];
    const std::vector<float> parts = parts_on_data(w, axis, data.dims()[axis + 1], out);
    if (std::ranges::all_of(parts, [](float part) { return part == 1; })) continue;
    Dims along(result.rank(), 1);
    along[axis + 1] = out;
    const Tensor each = tensor(parts, Shape(along));
    product = product ? ops::multiply(product, each) : each;
  }
  return product;
}

Tensor evened(const Tensor& dy, const Tensor& part) { return part ? ops::real_div(dy, part) : dy; }
Tensor scaled(const Tensor& y, const Tensor& part) { return part ? ops::multiply(y, part) : y; }

void average(Backprop& call) {
  const Windows w = windows_of(call);
  const Tensor dy = evened(call.dy(), part_on_data(w, call.x_shape(), call.y_shape()));
  call.give(0, ops::avg_pool_grad(dy, call.x(), w.size, {w.strides, w.pads, w.dilations}));
}

void average_3d(Backprop& call) {
  const Windows w = windows_of(call);
  const Tensor dy = evened(call.dy(), part_on_data(w, call.x_shape(), call.y_shape()));
  call.give(0, ops::avg_pool3d_grad(dy, call.x(), w.size, {w.strides, w.pads, w.dilations}));
}

// Linear in dy; of the input it takes only the shape.
void average_grad(Backprop& call) {
  const Windows w = windows_of(call);
  if (!call.wants(0)) return;
  const Tensor y = ops::avg_pool(call.dy(), w.size,
                                 {w.strides, w.pads, w.dilations, spatial_of(call.x_shape(0))});
  call.give(0, scaled(y, part_on_data(w, call.x_shape(1), call.x_shape(0))));
}

void average_3d_grad(Backprop& call) {
  const Windows w = windows_of(call);
  if (!call.wants(0)) return;
  const Tensor y = ops::avg_pool3d(call.dy(), w.size,
                                   {w.strides, w.pads, w.dilations, spatial_of(call.x_shape(0))});
  call.give(0, scaled(y, part_on_data(w, call.x_shape(1), call.x_shape(0))));
}

void maximum(Backprop& call) {
  const Windows w = windows_of(call);
  if (!call.dy()) return;  // of MaxPoolWithArgmax: only the positions were used
  call.give(0, ops::max_pool_grad(call.dy(), call.x(), w.size,
                                  {call.y(), w.strides, w.pads, w.dilations}));
}

void maximum_3d(Backprop& call) {
  const Windows w = windows_of(call);
  call.give(0, ops::max_pool3d_grad(call.dy(), call.x(), w.size,
                                    {call.y(), w.strides, w.pads, w.dilations}));
}

// Linear in dy: from where each maximum was. Between its steps it does not change with the input.
void maximum_grad(Backprop& call) {
  const Windows w = windows_of(call);
  if (!call.wants(0)) return;
  const Tensor at = ops::max_pool_with_argmax(
      call.x(1), w.size, {w.strides, w.pads, w.dilations, spatial_of(call.x_shape(0)), true})[1];
  call.give(0, ops::gather_v2(ops::reshape(call.dy(), {-1}), at));
}

constexpr Keeps kBoth{.inputs = 1, .outputs = 1};

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    {"AvgPool", average, kInput},
    {"AvgPoolGrad", average_grad},
    {"AvgPool3D", average_3d, kInput},
    {"AvgPool3DGrad", average_3d_grad},
    {"MaxPool", maximum, kBoth},
    {"MaxPoolGrad", maximum_grad, {.inputs = 2}},
    {"MaxPool3D", maximum_3d, kBoth},
    missing("MaxPool3DGrad", "positions of maxima in three dimensions are not built"),
    {"MaxPoolWithArgmax", maximum, kBoth},
});
// clang-format on
static_assert(covers(kRows, OfFamily{"pooling"}));

}  // namespace

std::span<const GradientRow> of_pooling() noexcept { return kRows; }

}  // namespace ebb::gradients
