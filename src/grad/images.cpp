// Gradients of images and of grayscale dilation.
#include <array>

#include "grad/backprop.hpp"

namespace ebb::gradients {
namespace {

using ops::attribute_at;
using ops::attribute_of_all;

constexpr std::size_t kAlign =
    attribute_of_all("alignCorners", "ResizeBilinear", "ResizeNearestNeighbor");
constexpr std::size_t kHalf =
    attribute_of_all("halfPixelCenters", "ResizeBilinear", "ResizeNearestNeighbor");
constexpr std::size_t kGradAlign =
    attribute_of_all("alignCorners", "ResizeBilinearGrad", "ResizeNearestNeighborGrad");

void flip(Backprop& call) { call.give(0, ops::flip_left_right(call.dy())); }

void bilinear(Backprop& call) {
  if (call.boolean(kHalf)) call.refuse("with half pixel centers");
  call.give(0, ops::resize_bilinear_grad(call.x(), call.dy(), {call.boolean(kAlign)}));
}

void nearest(Backprop& call) {
  if (call.boolean(kHalf)) call.refuse("with half pixel centers");
  call.give(0, ops::resize_nearest_neighbor_grad(call.x(), call.dy(), {call.boolean(kAlign)}));
}

Dims size_of_dy(const Backprop& call) {
  return {call.x_shape(1).dims()[1], call.x_shape(1).dims()[2]};
}

// Linear in dy; of the images they take only the shape.
void bilinear_grad(Backprop& call) {
  if (!call.wants(1)) return;
  call.give(1,
            ops::resize_bilinear(call.dy(), size_of_dy(call), {call.boolean(kGradAlign), false}));
}

void nearest_grad(Backprop& call) {
  if (!call.wants(1)) return;
  call.give(1, ops::resize_nearest_neighbor(call.dy(), size_of_dy(call),
                                            {call.boolean(kGradAlign), false}));
}

void dilation(Backprop& call) {
  const Dims strides = call.integers(attribute_at("Dilation2D", "strides"));
  const Dims pads = call.integers(attribute_at("Dilation2D", "pads"));
  const Dims dilations = call.integers(attribute_at("Dilation2D", "dilations"));
  if (call.wants(0)) {
    call.give(0, ops::dilation2d_backprop_input(call.x(0), call.x(1), call.dy(),
                                                {strides, pads, dilations}));
  }
  if (call.wants(1)) {
    call.give(1, ops::dilation2d_backprop_filter(call.x(0), call.x(1), call.dy(),
                                                 {strides, pads, dilations}));
  }
}

constexpr std::string_view kSampled = "bringing samples back to an image needs a kernel of its own";
constexpr std::string_view kSecond = "second derivatives of dilation are not built";

// clang-format off
constexpr auto kRows = std::to_array<GradientRow>({
    missing("CropAndResize", kSampled),
    {"FlipLeftRight", flip},
    {"ResizeBilinear", bilinear, kInput},
    {"ResizeBilinearGrad", bilinear_grad},
    {"ResizeNearestNeighbor", nearest, kInput},
    {"ResizeNearestNeighborGrad", nearest_grad},
    missing("RotateWithOffset", kSampled),
    missing("Transform", kSampled),
    {"Dilation2D", dilation, kInputs},
    missing("Dilation2DBackpropFilter", kSecond),
    missing("Dilation2DBackpropInput", kSecond),
});
// clang-format on
static_assert(covers(kRows, OfFamily{"images"}, OfFamily{"dilation"}));

}  // namespace

std::span<const GradientRow> of_images() noexcept { return kRows; }

}  // namespace ebb::gradients
