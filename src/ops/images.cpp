// Images: resizing, cropping, turning.
#include "ops/params/images.hpp"

#include <cmath>

#include "ops/axes.hpp"
#include "ops/families.hpp"
#include "ops/format.hpp"
#include "ops/moves.hpp"
#include "ops/words.hpp"

namespace ebb::ops {
namespace {

constexpr std::size_t kResized =
    attribute_of_all("size", "ResizeBilinear", "ResizeNearestNeighbor");
constexpr std::size_t kAlignCorners =
    attribute_of_all("alignCorners", "ResizeBilinear", "ResizeNearestNeighbor");
constexpr std::size_t kHalfPixelCenters =
    attribute_of_all("halfPixelCenters", "ResizeBilinear", "ResizeNearestNeighbor");
constexpr std::size_t kGradAlignCorners =
    attribute_of_all("alignCorners", "ResizeBilinearGrad", "ResizeNearestNeighborGrad");
constexpr std::size_t kCropSize = attribute_at("CropAndResize", "cropSize");
constexpr std::size_t kMethod = attribute_at("CropAndResize", "method");
constexpr std::size_t kExtrapolation = attribute_at("CropAndResize", "extrapolationValue");
constexpr std::size_t kRadians = attribute_at("RotateWithOffset", "radians");
constexpr std::size_t kFill = attribute_at("RotateWithOffset", "fillValue");
constexpr std::size_t kCenter = attribute_at("RotateWithOffset", "center");
constexpr std::size_t kInterpolation = attribute_at("Transform", "interpolation");
constexpr std::size_t kMode = attribute_at("Transform", "fillMode");
constexpr std::size_t kFillValue = attribute_at("Transform", "fillValue");
constexpr std::size_t kOutputShape = attribute_at("Transform", "outputShape");

ImageSize image_size(const OpCall& call, std::size_t input) {
  const Operand& x = call.input(input);
  if (x.dtype == DType::kComplex64) call.fail_dtype(input, "a real one");
  call.check(x.shape.rank() == 4, "input {} is {}, rank 4 is allowed", input, x.shape);
  const auto dims = x.shape.dims();
  return {dims[0], dims[1], dims[2], dims[3]};
}

Shape shape_of(const ImageSize& size) {
  return Shape{size.batch, size.height, size.width, size.channels};
}

// Two extents, at least 1 each.
std::array<std::int64_t, 2> height_and_width(const OpCall& call, std::size_t attribute) {
  const IntList size = call.integers(attribute);
  call.check(size.size() == 2 && size[0] > 0 && size[1] > 0,
             "attribute {} was {}, a height and a width of at least 1 are allowed",
             call.spec().attributes[attribute].name, size);
  return {size[0], size[1]};
}

void resize(OpCall& call, DType result) {
  const ImageSize images = image_size(call, 0);
  const auto [height, width] = height_and_width(call, kResized);
  call.check(images.height > 0 && images.width > 0,
             "images of {} were given, a height and a width of at least 1 are allowed",
             call.input(0).shape);
  const ImageSize resized{images.batch, height, width, images.channels};
  call.params(
      ResizeParams{images, resized, call.boolean(kAlignCorners), call.boolean(kHalfPixelCenters)});
  call.make(result, shape_of(resized));
}

void resize_bilinear(OpCall& call) {
  image_size(call, 0);
  call.convert_input(0, DType::kFloat32);
  resize(call, DType::kFloat32);
}

void resize_nearest(OpCall& call) { resize(call, call.input(0).dtype); }

void resize_grad(OpCall& call) {
  const ImageSize images = image_size(call, 0);
  const ImageSize dy = image_size(call, 1);
  call.check(images.batch == dy.batch && images.channels == dy.channels,
             "images are {} and dy is {}, they differ in more than height and width",
             call.input(0).shape, call.input(1).shape);
  call.check(call.input(1).shape.empty() || (images.height > 0 && images.width > 0),
             "images of {} were given, a height and a width of at least 1 are allowed",
             call.input(0).shape);
  call.convert_input(1, DType::kFloat32);
  call.params(ResizeParams{images, dy, call.boolean(kGradAlignCorners), false});
  call.make(DType::kFloat32, call.input(0).shape);
}

void crop_and_resize(OpCall& call) {
  const ImageSize images = image_size(call, 0);
  const Shape& boxes = call.input(1).shape;
  const Shape& which = call.input(2).shape;
  call.check(boxes.rank() == 2 && boxes.dims()[1] == 4, "boxes are {}, [n,4] is allowed", boxes);
  call.check(which.rank() == 1 && which.dims()[0] == boxes.dims()[0],
             "there are {} boxes, and {} say of which image", boxes.dims()[0], which);
  const auto [height, width] = height_and_width(call, kCropSize);
  const auto method = checked_word<Interpolation>(call, kMethod);
  const ImageSize crops{boxes.dims()[0], height, width, images.channels};
  call.convert_input(0, DType::kFloat32);
  call.convert_input(1, DType::kFloat32);
  call.convert_input(2, DType::kInt32);
  call.params(
      CropParams{images, crops, method == Interpolation::kNearest, call.number(kExtrapolation)});
  call.make(DType::kFloat32, shape_of(crops));
}

// With a value a channel, the fourth channel is opacity: what is filled in is opaque.
std::array<double, 4> fill_values(std::span<const double> given) noexcept {
  std::array<double, 4> values{0, 0, 0, 255};
  std::ranges::copy(given.first(std::min<std::size_t>(given.size(), 3)), values.begin());
  return values;
}

void rotate(OpCall& call) {
  const ImageSize images = image_size(call, 0);
  const auto fill = call.numbers(kFill);
  const auto center = call.numbers(kCenter);
  // The fourth channel is opacity, and needs no value.
  const std::int64_t needed = std::min<std::int64_t>(images.channels, 3);
  call.check(fill.size() == 1 || static_cast<std::int64_t>(fill.size()) >= needed,
             "{} fill values were given, 1 or one for each of {} channels is allowed", fill.size(),
             images.channels);
  call.check(center.size() == 1 || center.size() == 2,
             "{} numbers were given for the center, 1 or 2 are allowed", center.size());
  call.check(fill.size() == 1 || images.channels <= 4,
             "{} channels were given, at most 4 can have fill values of their own",
             images.channels);
  const double center_x = center[0], center_y = center.back();  // as parts of the image
  call.params(RotateParams{.images = images,
                           .sine = std::sin(call.number(kRadians)),
                           .cosine = std::cos(call.number(kRadians)),
                           // arithmetic: in floating point
                           .center_x = static_cast<double>(images.width) * center_x,
                           .center_y = static_cast<double>(images.height) * center_y,
                           .one_fill = fill.size() == 1,
                           .fill = fill_values(fill)});
  call.make(call.input(0).dtype, call.input(0).shape);
}

void transform(OpCall& call) {
  const ImageSize images = image_size(call, 0);
  const Shape& transforms = call.input(1).shape;
  call.check(transforms.rank() == 2 && transforms.dims()[1] == 8 &&
                 (transforms.dims()[0] == 1 || transforms.dims()[0] == images.batch),
             "transforms are {}, [1,8] or [{},8] is allowed", transforms, images.batch);
  const auto interpolation = checked_word<Interpolation>(call, kInterpolation);
  const auto mode = checked_word<FillMode>(call, kMode);
  const auto [height, width] = call.numbers(kOutputShape).empty()
                                   ? std::array{images.height, images.width}
                                   : height_and_width(call, kOutputShape);
  const ImageSize transformed{images.batch, height, width, images.channels};
  call.convert_input(1, DType::kFloat32);
  call.params(TransformParams{images, transformed, interpolation == Interpolation::kBilinear,
                              transforms.dims()[0] == 1, mode, call.number(kFillValue)});
  call.make(call.input(0).dtype, shape_of(transformed));
}

void flip_left_right(OpCall& call) {
  call.check(call.input(0).shape.rank() == 4, "rank {} was given, 4 is allowed",
             call.input(0).shape.rank());
  reverse_axes(call, {2});
}

}  // namespace

void add_images(MeaningTable& table) {
  table.set(op_id("FlipLeftRight"), flip_left_right, Strided::kFirst);
  table.set(op_id("ResizeBilinear"), resize_bilinear);
  table.set(op_id("ResizeBilinearGrad"), resize_grad);
  table.set(op_id("ResizeNearestNeighbor"), resize_nearest);
  table.set(op_id("ResizeNearestNeighborGrad"), resize_grad);
  table.set(op_id("CropAndResize"), crop_and_resize, Strided::kNone, Data::kChecked);
  table.set(op_id("RotateWithOffset"), rotate);
  table.set(op_id("Transform"), transform);
}

}  // namespace ebb::ops
