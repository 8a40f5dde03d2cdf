// Elementwise operations on one operand. float32 has a kernel for each operation, other dtypes
// share one for each kind of arithmetic.
#include "backends/cuda/plugin/kernels/elementwise_unary.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"

namespace ebb::cuda {
namespace {

constexpr int kWidth = 4;  // floats of a load

// ---- float32, dense

template <typename Function, typename Out>
__global__ void __launch_bounds__(kThreads)
    map_floats(const float* x, Out* y, std::int64_t count, Numbers numbers, bool past_the_cache) {
  using In = Pack<float, kWidth>;
  using To = Pack<Out, kWidth>;
  const Function function;
  const std::int64_t packs = count / kWidth;
  const std::int64_t at = first();
  if (at < packs) {
    const In in = reinterpret_cast<const In*>(x)[at];
    To to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) to.element[i] = convert<Out>(function(in.element[i], numbers));
    store_pack(reinterpret_cast<To*>(y) + at, to, past_the_cache);
  }
  const std::int64_t tail = packs * kWidth + at;
  if (tail < count) y[tail] = convert<Out>(function(x[tail], numbers));
}

template <typename Function, typename Out>
void launch_floats(cudaStream_t stream, const void* x, void* y, std::int64_t count,
                   const Numbers& numbers) {
  static const CUfunction kernel =
      driver_kernel(reinterpret_cast<const void*>(&map_floats<Function, Out>));
  launch(kernel, blocks_for(count, kThreads * kWidth), stream, "an elementwise operation",
         static_cast<const float*>(x), static_cast<Out*>(y), count, numbers,
         passes_the_cache(count * std::int64_t{sizeof(Out)}));
}

// ---- float32, strided: `width` elements at once along the inner axis

template <typename Function, typename Out, int width>
__global__ void __launch_bounds__(kThreads)
    map_rows(const float* x, Out* y, std::uint32_t packs, Numbers numbers, Loops<1> loops) {
  const Function function;
  for (std::int64_t at = first(); at < packs; at += all()) {
    std::int32_t offset[1];
    loops.at(static_cast<std::uint32_t>(at), offset);
    const auto in = *reinterpret_cast<const Pack<float, width>*>(x + offset[0]);
    Pack<Out, width> to;
#pragma unroll
    for (int i = 0; i < width; ++i) to.element[i] = convert<Out>(function(in.element[i], numbers));
    reinterpret_cast<Pack<Out, width>*>(y)[at] = to;
  }
}

template <typename Function, typename Out, int width>
void launch_rows_of(cudaStream_t stream, const void* x, void* y, const Plan<1>& plan,
                    const Numbers& numbers) {
  const auto packs = static_cast<std::uint32_t>(plan.elements());
  map_rows<Function, Out, width><<<blocks_for(packs), kThreads, 0, stream>>>(
      static_cast<const float*>(x), static_cast<Out*>(y), packs, numbers, Loops<1>(plan));
}

template <typename Function, typename Out>
void launch_rows(cudaStream_t stream, const void* x, void* y, const Plan<1>& plan,
                 const Numbers& numbers) {
  if (aligned<Pack<Out, kWidth>>(y) && lies_in_packs<float, kWidth>(plan, {x})) {
    launch_rows_of<Function, Out, kWidth>(stream, x, y, in_packs(plan, kWidth), numbers);
  } else {
    launch_rows_of<Function, Out, 1>(stream, x, y, plan, numbers);
  }
}

struct FloatMap {
  void (*dense)(cudaStream_t, const void*, void*, std::int64_t, const Numbers&) = nullptr;
  void (*rows)(cudaStream_t, const void*, void*, const Plan<1>&, const Numbers&) = nullptr;
};

struct FloatMaps {
  FloatMap by_op[64] = {};
  FloatMaps() {
    add<float>(unary::Real());
    add<Bool>(unary::Predicates());
  }
  template <typename Out, typename... Functions>
  void add(List<Functions...>) {
    ((by_op[Functions::kOp] = {launch_floats<Functions, Out>, launch_rows<Functions, Out>}), ...);
  }
};

// ---- any other dtype

struct Any {
  const void* x;
  void* y;
  DType from, to;
  std::uint32_t count;
  ops::OpId op;
  bool flat;
  Numbers numbers;
};

template <typename A, typename Function>
__device__ void map_with(const Any& any, const Loops<1>& loops) {
  for (std::int64_t i = first(); i < any.count; i += all()) {
    std::int32_t offset[1] = {static_cast<std::int32_t>(i)};
    if (!any.flat) loops.at(static_cast<std::uint32_t>(i), offset);
    store_any(any.to, any.y, i, Function()(load_any<A>(any.from, any.x, offset[0]), any.numbers));
  }
}

template <typename A, typename... Functions>
__device__ void map_listed(List<Functions...>, const Any& any, const Loops<1>& loops) {
  (void)((any.op == Functions::kOp && (map_with<A, Functions>(any, loops), true)) || ...);
}

template <typename A>
__global__ void __launch_bounds__(kThreads) map_any(Any any, Loops<1> loops) {
  if constexpr (kIsComplex<A>) {
    map_listed<A>(unary::OfComplex(), any, loops);
  } else {
    map_listed<A>(unary::Real(), any, loops);
    map_listed<A>(unary::Predicates(), any, loops);
  }
}

void launch_any(cudaStream_t stream, const Any& any, const Loops<1>& loops) {
  const unsigned blocks = blocks_for(any.count);
  switch (any.from) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      map_any<float><<<blocks, kThreads, 0, stream>>>(any, loops);
      break;
    case DType::kComplex64:
      map_any<Complex64><<<blocks, kThreads, 0, stream>>>(any, loops);
      break;
    case DType::kInt64:
      map_any<std::int64_t><<<blocks, kThreads, 0, stream>>>(any, loops);
      break;
    default:
      map_any<double><<<blocks, kThreads, 0, stream>>>(any, loops);
  }
}

std::byte* moved(const void* pointer, DType dtype, std::int64_t count) {
  return static_cast<std::byte*>(const_cast<void*>(pointer)) +
         count * static_cast<std::int64_t>(size_of(dtype));
}

void unary_kernel(Call& call) {
  static const FloatMaps maps;
  const ebb_cuda_tensor& x = call.input(0);
  ebb_cuda_tensor& y = call.output(0);
  const std::int64_t count = elements(y);
  if (count == 0) return;
  Numbers numbers;
  for (std::size_t i = 0; i < ops::find_op(call.op())->attribute_count() && i < 2; ++i) {
    numbers.value[i] = call.number(i);
  }
  const bool flat = x.dense != 0;
  const DType from = dtype_of(x), to = dtype_of(y);
  const FloatMap floats = from == DType::kFloat32 ? maps.by_op[call.op()] : FloatMap{};
  if (floats.dense != nullptr && flat && aligned<float4>(x.data) && aligned<float4>(y.data)) {
    return floats.dense(call.stream(), x.data, y.data, count, numbers);
  }
  std::int64_t done = 0;  // parts come in the order of the output
  each_part(elementwise_plan<1>(y, {&x}), {0}, [&](const Plan<1>& plan, const auto& offsets) {
    const Any any{.x = moved(x.data, from, offsets[0]),
                  .y = moved(y.data, to, done),
                  .from = from,
                  .to = to,
                  .count = static_cast<std::uint32_t>(plan.elements()),
                  .op = call.op(),
                  .flat = flat,
                  .numbers = numbers};
    if (floats.rows != nullptr) {
      floats.rows(call.stream(), any.x, any.y, plan, numbers);
    } else {
      launch_any(call.stream(), any, Loops<1>(plan));
    }
    launched("an elementwise operation");
    done += any.count;
  });
}

struct Registrations {
  Registrations() {
    add(unary::Real());
    add(unary::Predicates());
    add(List<unary::ComplexAbs>());
  }
  template <typename... Functions>
  void add(List<Functions...>) {
    (Registration(Functions::kOp, unary_kernel), ...);
  }
};
const Registrations registered;

}  // namespace
}  // namespace ebb::cuda
