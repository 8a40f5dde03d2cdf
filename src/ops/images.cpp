// Images ([batch, height, width, channels]), boxes in them, and signals.
#include "ops/axes.hpp"
#include "ops/families.hpp"

namespace ebb::ops {
namespace {

void check_images(OpCall& call) {
  call.check(call.input(0).shape.rank() == 4,
             "images {} were given, [batch, height, width, channels] is allowed",
             call.input(0).shape.to_string());
  if (call.input(0).dtype == DType::kComplex64) call.fail_dtype(0, "a real one");
}

Shape resized(OpCall& call, std::size_t attribute, std::int64_t batch) {
  const IntList size = call.integers(attribute);
  call.check(size.size() == 2 && size[0] > 0 && size[1] > 0,
             "size {} was given, a height and a width of at least 1 are allowed",
             dims_to_string(size));
  return Shape{batch, size[0], size[1], call.input(0).shape.dims()[3]};
}

void resize_bilinear(OpCall& call) {
  check_images(call);
  call.convert_input(0, DType::kFloat32);
  call.make(DType::kFloat32, resized(call, 0, call.input(0).shape.dims()[0]));
}

void resize_nearest(OpCall& call) {
  check_images(call);
  call.make(call.input(0).dtype, resized(call, 0, call.input(0).shape.dims()[0]));
}

void resize_grad(OpCall& call) {
  check_images(call);
  call.convert_input(1, DType::kFloat32);
  const Shape& x = call.input(0).shape;
  const Shape& dy = call.input(1).shape;
  call.check(dy.rank() == 4 && dy.dims()[0] == x.dims()[0] && dy.dims()[3] == x.dims()[3],
             "dy {} was given for images {}", dy.to_string(), x.to_string());
  call.make(DType::kFloat32, x);
}

void crop_and_resize(OpCall& call) {
  check_images(call);
  call.convert_input(0, DType::kFloat32);
  call.convert_input(1, DType::kFloat32);
  call.convert_input(2, DType::kInt32);
  const Shape& boxes = call.input(1).shape;
  const Shape& of = call.input(2).shape;
  call.check(boxes.rank() == 2 && boxes.dims()[1] == 4 && of.rank() == 1 &&
                 of.dims()[0] == boxes.dims()[0],
             "boxes {} and their images {} were given, [n, 4] and [n] are allowed",
             boxes.to_string(), of.to_string());
  call.make(DType::kFloat32, resized(call, 0, boxes.dims()[0]));
}

void rotate(OpCall& call) {
  check_images(call);
  call.convert_input(0, DType::kFloat32);
  const std::size_t fills = call.numbers(1).size(), centers = call.numbers(2).size();
  call.check((fills == 1 || fills >= 3) && (centers == 1 || centers == 2),
             "{} fill values and {} center coordinates were given, 1 or 3, and 1 or 2 are allowed",
             fills, centers);
  call.make(DType::kFloat32, call.input(0).shape);
}

void transform(OpCall& call) {
  check_images(call);
  call.convert_input(1, DType::kFloat32);
  const Shape& x = call.input(0).shape;
  const Shape& transforms = call.input(1).shape;
  call.check(transforms.rank() == 2 && transforms.dims()[1] == 8 &&
                 (transforms.dims()[0] == 1 || transforms.dims()[0] == x.dims()[0]),
             "transforms {} were given, [1, 8] or [{}, 8] is allowed", transforms.to_string(),
             x.dims()[0]);
  const bool sized = !call.numbers(3).empty();
  call.make(call.input(0).dtype, sized ? resized(call, 3, x.dims()[0]) : x);
}

void non_max_suppression(OpCall& call) {
  call.convert_input(0, DType::kFloat32);
  call.convert_input(1, DType::kFloat32);
  const Shape& boxes = call.input(0).shape;
  const Shape& scores = call.input(1).shape;
  call.check(boxes.rank() == 2 && boxes.dims()[1] == 4 && scores.rank() == 1 &&
                 scores.dims()[0] == boxes.dims()[0],
             "boxes {} and scores {} were given, [n, 4] and [n] are allowed", boxes.to_string(),
             scores.to_string());
  call.check(call.number(1) >= 0 && call.number(1) <= 1,
             "iouThreshold {} was given, 0 to 1 is allowed", call.number(1));
}

void fourier(OpCall& call) {
  call.convert_input(0, DType::kComplex64);
  const Shape& x = call.input(0).shape;
  call.check(x.rank() >= 1, "rank 0 was given, at least 1 is allowed");
  call.make(DType::kComplex64, x);
}

}  // namespace

void add_images(MeaningTable& table) {
  table.set(op_id("ResizeBilinear"), resize_bilinear);
  table.set(op_id("ResizeNearestNeighbor"), resize_nearest);
  table.set(op_id("ResizeBilinearGrad"), resize_grad);
  table.set(op_id("ResizeNearestNeighborGrad"), resize_grad);
  table.set(op_id("CropAndResize"), crop_and_resize);
  table.set(op_id("RotateWithOffset"), rotate);
  table.set(op_id("Transform"), transform);
  table.set(op_id("NonMaxSuppressionV3"), non_max_suppression);
  table.set(op_id("NonMaxSuppressionV4"), non_max_suppression);
  table.set(op_id("NonMaxSuppressionV5"), non_max_suppression);
  table.set(op_id("FFT"), fourier);
  table.set(op_id("IFFT"), fourier);
}

}  // namespace ebb::ops
