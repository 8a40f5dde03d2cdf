// Cast and Select.
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"

namespace ebb::cuda {
namespace {

// ---- Cast

template <typename From, typename To>
__global__ void __launch_bounds__(kThreads) cast_dense(const From* x, To* y, std::int64_t count) {
  constexpr int kWidth = 4;
  const std::int64_t packs = count / kWidth;
  for (std::int64_t at = first(); at < packs; at += all()) {
    const auto in = reinterpret_cast<const Pack<From, kWidth>*>(x)[at];
    Pack<To, kWidth> to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to.element[i] = convert<To>(in.element[i]);
    reinterpret_cast<Pack<To, kWidth>*>(y)[at] = to;
  }
  const std::int64_t tail = packs * kWidth + first();
  if (tail < count) y[tail] = convert<To>(x[tail]);
}

template <typename From, typename To>
void launch_cast(cudaStream_t stream, const void* x, void* y, std::int64_t count) {
  cast_dense<<<blocks_for(count, kThreads * 4), kThreads, 0, stream>>>(static_cast<const From*>(x),
                                                                       static_cast<To*>(y), count);
}

using CastLaunch = void (*)(cudaStream_t, const void*, void*, std::int64_t);

// The common ones; null for others.
CastLaunch own_cast(DType from, DType to) {
  const auto is = [&](DType a, DType b) { return from == a && to == b; };
  if (is(DType::kInt32, DType::kFloat32)) return launch_cast<std::int32_t, float>;
  if (is(DType::kBool, DType::kFloat32)) return launch_cast<Bool, float>;
  if (is(DType::kUint8, DType::kFloat32)) return launch_cast<std::uint8_t, float>;
  if (is(DType::kFloat32, DType::kInt32)) return launch_cast<float, std::int32_t>;
  if (is(DType::kFloat32, DType::kBool)) return launch_cast<float, Bool>;
  if (is(DType::kBool, DType::kInt32)) return launch_cast<Bool, std::int32_t>;
  if (is(DType::kInt32, DType::kBool)) return launch_cast<std::int32_t, Bool>;
  if (is(DType::kFloat32, DType::kFloat16)) return launch_cast<float, Float16>;
  if (is(DType::kFloat16, DType::kFloat32)) return launch_cast<Float16, float>;
  if (is(DType::kFloat32, DType::kBfloat16)) return launch_cast<float, Bfloat16>;
  if (is(DType::kBfloat16, DType::kFloat32)) return launch_cast<Bfloat16, float>;
  return nullptr;
}

// Every dtype goes through one that holds all its values.
template <typename Wide>
__global__ void __launch_bounds__(kThreads)
    cast_any(const void* x, DType from, void* y, DType to, std::uint32_t count, Loops<1> loops) {
  for (std::int64_t i = first(); i < count; i += all()) {
    std::int32_t offset[1];
    loops.at(static_cast<std::uint32_t>(i), offset);
    store(to, y, i, load<Wide>(from, x, offset[0]));
  }
}

bool is_integer(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kInt32 || dtype == DType::kInt64 ||
         dtype == DType::kUint8 || dtype == DType::kInt8;
}

void cast(Call& call) {
  const ebb_cuda_tensor& x = call.input(0);
  ebb_cuda_tensor& y = call.output(0);
  const std::int64_t count = elements(y);
  if (count == 0) return;
  const DType from = dtype_of(x), to = dtype_of(y);
  const CastLaunch own = own_cast(from, to);
  if (own != nullptr && x.dense != 0 && aligned<float4>(x.data) && aligned<float4>(y.data)) {
    own(call.stream(), x.data, y.data, count);
    return launched("Cast");
  }
  std::int64_t done = 0;
  each_part(elementwise_plan<1>(y, {&x}), {0}, [&](const Plan<1>& plan, const auto& offsets) {
    const auto part = static_cast<std::uint32_t>(plan.elements());
    const auto* in = call.in<std::byte>(0) + offsets[0] * static_cast<std::int64_t>(size_of(from));
    auto* out = call.out<std::byte>(0) + done * static_cast<std::int64_t>(size_of(to));
    if (is_integer(from)) {
      cast_any<std::int64_t><<<blocks_for(part), kThreads, 0, call.stream()>>>(
          in, from, out, to, part, Loops<1>(plan));
    } else {
      cast_any<double><<<blocks_for(part), kThreads, 0, call.stream()>>>(in, from, out, to, part,
                                                                         Loops<1>(plan));
    }
    launched("Cast");
    done += part;
  });
}
EBB_CUDA_KERNEL(Cast, cast);

// ---- Select

// Element i of the condition is for `run` elements of the others.
template <typename T>
struct Choose {
  const std::uint8_t* condition;
  const T* t;
  const T* e;
  T* out;
  std::int64_t run;
  bool one;
  __device__ void operator()(std::int64_t i) const {
    const bool yes = condition[one ? 0 : run == 1 ? i : i / run] != 0;
    out[i] = yes ? t[i] : e[i];
  }
};

template <typename T>
__global__ void __launch_bounds__(kThreads)
    choose_rows(const std::uint8_t* condition, const T* t, const T* e, T* out, std::uint32_t count,
                Loops<3> loops) {
  for (std::int64_t i = first(); i < count; i += all()) {
    std::int32_t offset[3];
    loops.at(static_cast<std::uint32_t>(i), offset);
    out[i] = condition[offset[0]] != 0 ? t[offset[1]] : e[offset[2]];
  }
}

// A condition of one axis is for the first axis of the others, not for the last.
ebb_cuda_tensor stretched(const ebb_cuda_tensor& condition, const ebb_cuda_tensor& out) {
  ebb_cuda_tensor result = condition;
  if (condition.rank != 1 || out.rank <= 1) return result;
  result.rank = out.rank;
  for (std::uint32_t i = 1; i < out.rank; ++i) {
    result.dims[i] = 1;
    result.strides[i] = 0;
  }
  return result;
}

void select(Call& call) {
  ebb_cuda_tensor& out = call.output(0);
  const std::int64_t count = elements(out);
  if (count == 0) return;
  const ebb_cuda_tensor &c = call.input(0), &t = call.input(1), &e = call.input(2);
  const bool one = c.rank == 0;
  visit_size(dtype_of(out), [&]<typename T>(Type<T>) {
    if (c.dense != 0 && t.dense != 0 && e.dense != 0) {
      return for_each(call.stream(), count, "Select",
                      Choose<T>{call.in<std::uint8_t>(0), call.in<T>(1), call.in<T>(2),
                                call.out<T>(0), one ? 1 : count / elements(c), one});
    }
    const ebb_cuda_tensor condition = stretched(c, out);
    std::int64_t done = 0;
    each_part(elementwise_plan<3>(out, {&condition, &t, &e}), {0, 0, 0},
              [&](const Plan<3>& plan, const auto& offsets) {
                const auto part = static_cast<std::uint32_t>(plan.elements());
                choose_rows<T><<<blocks_for(part), kThreads, 0, call.stream()>>>(
                    call.in<std::uint8_t>(0) + offsets[0], call.in<T>(1) + offsets[1],
                    call.in<T>(2) + offsets[2], call.out<T>(0) + done, part, Loops<3>(plan));
                launched("Select");
                done += part;
              });
  });
}
EBB_CUDA_KERNEL(Select, select);

}  // namespace
}  // namespace ebb::cuda
