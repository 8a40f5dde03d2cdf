// Resizing images, and cropping them: a thread for each element of the output, or of dy, whose
// parts are added up atomically.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/images.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/note.cuh"
#include "ops/params/images.hpp"

namespace ebb::cuda {
namespace {

using image::Axis;
using image::between;
using image::Place;
using image::Tap;

// ---- ResizeBilinear, ResizeNearestNeighbor

struct Bilinear {
  const float* x;
  float* y;
  image::Size from, to;
  Axis rows, columns;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, to);
    const Tap row = rows.bilinear(at.y), column = columns.bilinear(at.x);
    const float* image = x + at.batch * from.image() + at.channel;
    const float* top = image + row.low * from.row();
    const float* bottom = image + row.high * from.row();
    const std::int64_t left = column.low * from.channels, right = column.high * from.channels;
    y[i] = between(between(top[left], top[right], column.fraction),
                   between(bottom[left], bottom[right], column.fraction), row.fraction);
  }
};

struct BilinearGradient {
  const float* dy;
  float* dx;
  image::Size images, resized;
  Axis rows, columns;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, resized);
    const Tap row = rows.bilinear(at.y), column = columns.bilinear(at.x);
    float* image = dx + at.batch * images.image() + at.channel;
    float* top = image + row.low * images.row();
    float* bottom = image + row.high * images.row();
    const std::int64_t left = column.low * images.channels, right = column.high * images.channels;
    const float down = row.fraction, across = column.fraction, gradient = dy[i];
    atomicAdd(top + left, gradient * (1 - down) * (1 - across));
    atomicAdd(top + right, gradient * (1 - down) * across);
    atomicAdd(bottom + left, gradient * down * (1 - across));
    atomicAdd(bottom + right, gradient * down * across);
  }
};

template <typename T>
struct Nearest {
  const T* x;
  T* y;
  image::Size from, to;
  Axis rows, columns;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, to);
    y[i] = x[at.batch * from.image() + rows.nearest(at.y) * from.row() +
             columns.nearest(at.x) * from.channels + at.channel];
  }
};

struct NearestGradient {
  const float* dy;
  float* dx;
  image::Size images, resized;
  Axis rows, columns;
  __device__ void operator()(std::int64_t i) const {
    const Place at(i, resized);
    atomicAdd(dx + at.batch * images.image() + rows.nearest(at.y) * images.row() +
                  columns.nearest(at.x) * images.channels + at.channel,
              dy[i]);
  }
};

Axis axis_of(const ops::ResizeParams& params, std::int64_t from, std::int64_t to) {
  return {from, image::ratio(from, to, params.align_corners), params.align_corners,
          params.half_pixel_centers};
}
Axis rows_of(const ops::ResizeParams& params) {
  return axis_of(params, params.images.height, params.resized.height);
}
Axis columns_of(const ops::ResizeParams& params) {
  return axis_of(params, params.images.width, params.resized.width);
}

void resize_bilinear(Call& call) {
  const auto& params = call.params<ops::ResizeParams>();
  for_each(call.stream(), elements(call.output(0)), "ResizeBilinear",
           Bilinear{call.in<float>(0), call.out<float>(0), image::Size(params.images),
                    image::Size(params.resized), rows_of(params), columns_of(params)});
}
EBB_CUDA_KERNEL(ResizeBilinear, resize_bilinear);

void resize_nearest(Call& call) {
  const auto& params = call.params<ops::ResizeParams>();
  visit_size(dtype_of(call.input(0)), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(call.output(0)), "ResizeNearestNeighbor",
             Nearest<T>{call.in<T>(0), call.out<T>(0), image::Size(params.images),
                        image::Size(params.resized), rows_of(params), columns_of(params)});
  });
}
EBB_CUDA_KERNEL(ResizeNearestNeighbor, resize_nearest);

template <typename Gradient>
void resize_gradient(Call& call) {
  const auto& params = call.params<ops::ResizeParams>();
  const ebb_cuda_tensor& out = call.output(0);
  fill(call.stream(), DType::kFloat32, out.data, elements(out), 0);
  for_each(call.stream(), elements(call.input(1)), "a resize's gradient",
           Gradient{call.in<float>(1), call.out<float>(0), image::Size(params.images),
                    image::Size(params.resized), rows_of(params), columns_of(params)});
}
EBB_CUDA_KERNEL(ResizeBilinearGrad, resize_gradient<BilinearGradient>);
EBB_CUDA_KERNEL(ResizeNearestNeighborGrad, resize_gradient<NearestGradient>);

// ---- CropAndResize

struct Crop {
  const float* x;
  const float* boxes;
  const std::int32_t* which;
  float* y;
  image::Size images, crops;
  bool nearest;
  float extrapolation;
  std::int64_t* note;

  __device__ void operator()(std::int64_t i) const {
    const Place at(i, crops);
    const std::int32_t source = which[at.batch];
    if (source < 0) complain(note, at.batch, source);
    if (source < 0 || source >= images.batch) {  // TensorFlow.js leaves zeros
      y[i] = 0;
      return;
    }
    const float* box = boxes + at.batch * 4;
    const double down = image::crop_coordinate(at.y, crops.height, box[0], box[2], images.height);
    const double across = image::crop_coordinate(at.x, crops.width, box[1], box[3], images.width);
    if (!image::inside(down, images.height) || !image::inside(across, images.width)) {
      y[i] = extrapolation;
      return;
    }
    const Tap row = image::crop_tap(down, nearest), column = image::crop_tap(across, nearest);
    const float* image = x + source * images.image() + at.channel;
    const float* top = image + row.low * images.row();
    const float* bottom = image + row.high * images.row();
    const std::int64_t left = column.low * images.channels, right = column.high * images.channels;
    y[i] = between(between(top[left], top[right], column.fraction),
                   between(bottom[left], bottom[right], column.fraction), row.fraction);
  }
};

void crop_and_resize(Call& call) {
  const auto& params = call.params<ops::CropParams>();
  if (elements(call.output(0)) == 0) return;
  Note note(call.stream());
  for_each(call.stream(), elements(call.output(0)), "CropAndResize",
           Crop{call.in<float>(0), call.in<float>(1), call.in<std::int32_t>(2), call.out<float>(0),
                image::Size(params.images), image::Size(params.crops), params.nearest,
                static_cast<float>(params.extrapolation), note.words()});
  if (note.complains()) {
    bad_data("box " + std::to_string(note.word(1)) + " is of image " +
             std::to_string(note.word(2)) + ", 0 to " + std::to_string(params.images.batch - 1) +
             " are allowed");
  }
}
EBB_CUDA_KERNEL(CropAndResize, crop_and_resize);

}  // namespace
}  // namespace ebb::cuda
