// Tensors from numbers alone.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/movement.hpp"

namespace ebb::cuda {
namespace {

void fill_all(Call& call, double value) {
  const ebb_cuda_tensor& out = call.output(0);
  fill(call.stream(), dtype_of(out), out.data, elements(out), value);
}

void fill_with(Call& call) { fill_all(call, call.number(ops::attribute_at("Fill", "value"))); }
EBB_CUDA_KERNEL(Fill, fill_with);
void zeros_like(Call& call) { fill_all(call, 0); }
EBB_CUDA_KERNEL(ZerosLike, zeros_like);
void ones_like(Call& call) { fill_all(call, 1); }
EBB_CUDA_KERNEL(OnesLike, ones_like);

struct Line {
  DType dtype;
  void* out;
  double start, step;
  __device__ void operator()(std::int64_t i) const {
    store(dtype, out, i, sum(start, product(step, static_cast<double>(i))));
  }
};

void draw_line(Call& call, double start, double step) {
  const ebb_cuda_tensor& out = call.output(0);
  for_each(call.stream(), elements(out), "a range", Line{dtype_of(out), out.data, start, step});
}

void lin_space(Call& call) {
  const double start = call.number(ops::attribute_at("LinSpace", "start")),
               stop = call.number(ops::attribute_at("LinSpace", "stop"));
  const std::int64_t count = call.integer(ops::attribute_at("LinSpace", "num"));
  draw_line(call, start, count == 1 ? 0 : (stop - start) / static_cast<double>(count - 1));
}
EBB_CUDA_KERNEL(LinSpace, lin_space);

// The step's sign follows start and stop where it was left at 1.
void range(Call& call) {
  const double start = call.number(ops::attribute_at("Range", "start")),
               step = call.number(ops::attribute_at("Range", "step"));
  draw_line(call, start,
            call.number(ops::attribute_at("Range", "stop")) < start && step == 1 ? -1 : step);
}
EBB_CUDA_KERNEL(Range, range);

// out[i, j] is `on` where j is at[i].
template <typename T>
struct OneHot {
  const std::int32_t* at;
  T* out;
  std::int64_t depth;
  T on, off;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t row = i / depth;
    out[i] = at[row] == i - row * depth ? on : off;
  }
};

void one_hot(Call& call) {
  const ebb_cuda_tensor& out = call.output(0);
  visit(dtype_of(out), [&]<typename T>(Type<T>) {
    for_each(call.stream(), elements(out), "OneHot",
             OneHot<T>{call.in<std::int32_t>(0), call.out<T>(0),
                       call.integer(ops::attribute_at("OneHot", "depth")),
                       convert<T>(call.number(ops::attribute_at("OneHot", "onValue"))),
                       convert<T>(call.number(ops::attribute_at("OneHot", "offValue")))});
  });
}
EBB_CUDA_KERNEL(OneHot, one_hot);

struct Eye {
  DType dtype;
  void* out;
  std::int64_t columns;
  __device__ void operator()(std::int64_t i) const {
    store(dtype, out, i, i / columns == i % columns);
  }
};

void eye(Call& call) {
  const ebb_cuda_tensor& out = call.output(0);
  for_each(call.stream(), elements(out), "Eye",
           Eye{dtype_of(out), out.data, call.integer(ops::attribute_at("Eye", "columns"))});
}
EBB_CUDA_KERNEL(Eye, eye);

// ---- Complex

struct Join {
  const float* real;
  const float* imag;
  float2* out;
  __device__ void operator()(std::int64_t i) const { out[i] = {real[i], imag[i]}; }
};

void complex(Call& call) {
  const auto real = reinterpret_cast<const float*>(dense(call, call.input(0)));
  const auto imag = reinterpret_cast<const float*>(dense(call, call.input(1)));
  for_each(call.stream(), elements(call.output(0)), "Complex",
           Join{real, imag, call.out<float2>(0)});
}
EBB_CUDA_KERNEL(Complex, complex);

}  // namespace
}  // namespace ebb::cuda
