// Elementwise operations on two operands. The common ones on float32 and int32 have kernels of
// their own, which read and write 16 bytes at once; the others share one for each kind of
// arithmetic.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/elementwise_binary.cuh"
#include "backends/cuda/plugin/kernels/launch.cuh"
#include "backends/cuda/plugin/kernels/plans.cuh"

namespace ebb::cuda {
namespace {

using namespace binary;

constexpr int kWidth = 4;  // elements of a load

// float16 and bfloat16 are computed in float32, int32 in itself.
template <typename T>
using Computed =
    std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>, float, T>;

template <typename T>
struct Operands {
  const T* a;
  const T* b;
};

// Both operands are as long as the result, or one element (step 0).
template <typename T, typename Out, typename Function>
__global__ void __launch_bounds__(kThreads)
    pair_dense(Operands<T> x, int a_step, int b_step, Out* out, std::int64_t count,
               bool past_the_cache) {
  using C = Computed<T>;
  using In = Pack<T, kWidth>;
  using To = Pack<Out, kWidth>;
  const Function function;
  const std::int64_t packs = count / kWidth;
  const std::int64_t at = first();
  const auto load = [&](const T* from, int step) {
    if (step != 0) return reinterpret_cast<const In*>(from)[at];
    In in;
    for (int i = 0; i < kWidth; ++i) in.element[i] = *from;
    return in;
  };
  if (at < packs) {
    const In a = load(x.a, a_step), b = load(x.b, b_step);
    To to;
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      to.element[i] = convert<Out>(function(convert<C>(a.element[i]), convert<C>(b.element[i])));
    }
    store_pack(reinterpret_cast<To*>(out) + at, to, past_the_cache);
  }
  const std::int64_t tail = packs * kWidth + at;
  if (tail < count)
    out[tail] =
        convert<Out>(function(convert<C>(x.a[tail * a_step]), convert<C>(x.b[tail * b_step])));
}

// Strides and broadcasting; `width` elements at once along the inner axis.
template <typename T, typename Out, typename Function, int width>
__global__ void __launch_bounds__(kThreads)
    pair_rows(Operands<T> x, bool a_repeats, bool b_repeats, Out* out, std::uint32_t packs,
              Loops<2> loops) {
  using C = Computed<T>;
  using In = Pack<T, width>;
  const Function function;
  for (std::int64_t at = first(); at < packs; at += all()) {
    std::int32_t offset[2];
    loops.at(static_cast<std::uint32_t>(at), offset);
    In a, b;
    if (width == 1 || !a_repeats) {
      a = *reinterpret_cast<const In*>(x.a + offset[0]);
    } else {
      for (int i = 0; i < width; ++i) a.element[i] = x.a[offset[0]];
    }
    if (width == 1 || !b_repeats) {
      b = *reinterpret_cast<const In*>(x.b + offset[1]);
    } else {
      for (int i = 0; i < width; ++i) b.element[i] = x.b[offset[1]];
    }
    Pack<Out, width> to;
#pragma unroll
    for (int i = 0; i < width; ++i) {
      to.element[i] = convert<Out>(function(convert<C>(a.element[i]), convert<C>(b.element[i])));
    }
    reinterpret_cast<Pack<Out, width>*>(out)[at] = to;
  }
}

// ---- one operation on one dtype, as the host calls it

struct Pair {
  cudaStream_t stream;
  const void* a;
  const void* b;
  void* out;
};

struct Launch {
  void (*dense)(const Pair&, int a_step, int b_step, std::int64_t count) = nullptr;
  void (*rows)(const Pair&, const Plan<2>&) = nullptr;
};

template <typename T, typename Out, typename Function>
struct Launches {
  static Operands<T> operands(const Pair& pair) {
    return {static_cast<const T*>(pair.a), static_cast<const T*>(pair.b)};
  }
  static void dense(const Pair& pair, int a_step, int b_step, std::int64_t count) {
    static const CUfunction kernel =
        driver_kernel(reinterpret_cast<const void*>(&pair_dense<T, Out, Function>));
    launch(kernel, blocks_for(count, kThreads * kWidth), pair.stream, "an elementwise operation",
           operands(pair), a_step, b_step, static_cast<Out*>(pair.out), count,
           passes_the_cache(count * std::int64_t{sizeof(Out)}));
  }
  static void rows(const Pair& pair, const Plan<2>& plan) {
    const int inner = plan.axes - 1;
    if (!aligned<Pack<Out, kWidth>>(pair.out) ||
        !lies_in_packs<T, kWidth>(plan, {pair.a, pair.b})) {
      const auto count = static_cast<std::uint32_t>(plan.elements());
      pair_rows<T, Out, Function, 1><<<blocks_for(count), kThreads, 0, pair.stream>>>(
          operands(pair), false, false, static_cast<Out*>(pair.out), count, Loops<2>(plan));
      return;
    }
    const Plan<2> packed = in_packs(plan, kWidth);
    const auto count = static_cast<std::uint32_t>(packed.elements());
    pair_rows<T, Out, Function, kWidth><<<blocks_for(count), kThreads, 0, pair.stream>>>(
        operands(pair), plan.step[0][inner] == 0, plan.step[1][inner] == 0,
        static_cast<Out*>(pair.out), count, Loops<2>(packed));
  }
};

class OwnKernels {
 public:
  OwnKernels() {
    add<float, float>(floats_, List<Add, Sub, Multiply, SquaredDifference, RealDiv, Maximum,
                                    Minimum, Pow, Prelu, EluGrad>());
    add<float, Bool>(floats_, Comparisons());
    add<std::int32_t, std::int32_t>(
        integers_, List<Add, Sub, Multiply, SquaredDifference, Maximum, Minimum>());
    add<std::int32_t, Bool>(integers_, Comparisons());
    add<Float16, Float16>(halves_, List<Add, Sub, Multiply, RealDiv, Maximum>());
    add<Bfloat16, Bfloat16>(brains_, List<Add, Sub, Multiply, RealDiv, Maximum>());
  }
  // Null functions where there is none.
  Launch find(ops::OpId op, DType dtype) const {
    switch (dtype) {
      case DType::kFloat32:
        return floats_[op];
      case DType::kInt32:
        return integers_[op];
      case DType::kFloat16:
        return halves_[op];
      case DType::kBfloat16:
        return brains_[op];
      default:
        return {};
    }
  }

 private:
  using Comparisons = List<Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual>;

  template <typename T, typename Out, typename... Functions>
  static void add(Launch* by_op, List<Functions...>) {
    ((by_op[Functions::kOp] = {Launches<T, Out, Functions>::dense,
                               Launches<T, Out, Functions>::rows}),
     ...);
  }

  Launch floats_[80], integers_[80], halves_[80], brains_[80];
};

// ---- any dtype

struct Any {
  const void* a;
  const void* b;
  void* out;
  DType from, to;
  std::uint32_t count;
  ops::OpId op;
};

template <typename A, typename Function>
__device__ void pair_with(const Any& any, const Loops<2>& loops) {
  for (std::int64_t i = first(); i < any.count; i += all()) {
    std::int32_t offset[2];
    loops.at(static_cast<std::uint32_t>(i), offset);
    store_any(any.to, any.out, i,
              Function()(load_any<A>(any.from, any.a, offset[0]),
                         load_any<A>(any.from, any.b, offset[1])));
  }
}

template <typename A, typename... Functions>
__device__ void pair_listed(List<Functions...>, const Any& any, const Loops<2>& loops) {
  (void)((any.op == Functions::kOp && (pair_with<A, Functions>(any, loops), true)) || ...);
}

template <typename A>
__global__ void __launch_bounds__(kThreads) pair_any(Any any, Loops<2> loops) {
  if constexpr (kIsComplex<A>) {
    pair_listed<A>(OfComplex(), any, loops);
  } else {
    pair_listed<A>(Real(), any, loops);
    pair_listed<A>(OfIntegers(), any, loops);
  }
}

void launch_any(cudaStream_t stream, const Any& any, const Loops<2>& loops) {
  const unsigned blocks = blocks_for(any.count);
  switch (any.from) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      return pair_any<float><<<blocks, kThreads, 0, stream>>>(any, loops);
    case DType::kComplex64:
      return pair_any<Complex64><<<blocks, kThreads, 0, stream>>>(any, loops);
    case DType::kInt64:
      return pair_any<std::int64_t><<<blocks, kThreads, 0, stream>>>(any, loops);
    default:
      return pair_any<double><<<blocks, kThreads, 0, stream>>>(any, loops);
  }
}

// ---- calls

std::byte* moved(const void* pointer, DType dtype, std::int64_t count) {
  return static_cast<std::byte*>(const_cast<void*>(pointer)) +
         count * static_cast<std::int64_t>(size_of(dtype));
}

void run(cudaStream_t stream, ops::OpId op, const ebb_cuda_tensor& a, const ebb_cuda_tensor& b,
         const ebb_cuda_tensor& out) {
  static const OwnKernels own;
  const std::int64_t count = elements(out);
  if (count == 0) return;
  const DType from = dtype_of(a), to = dtype_of(out);
  const Launch launch = own.find(op, from);
  const bool a_flat = lies_flat(a, count), b_flat = lies_flat(b, count);
  if (launch.dense != nullptr && (a_flat || elements(a) == 1) && (b_flat || elements(b) == 1) &&
      (!a_flat || aligned<float4>(a.data)) && (!b_flat || aligned<float4>(b.data)) &&
      aligned<float4>(out.data)) [[likely]] {
    return launch.dense({stream, a.data, b.data, out.data}, a_flat ? 1 : 0, b_flat ? 1 : 0, count);
  }
  std::int64_t done = 0;
  each_part(elementwise_plan<2>(out, {&a, &b}), {0, 0},
            [&](const Plan<2>& plan, const auto& offsets) {
              const Pair pair{stream, moved(a.data, from, offsets[0]),
                              moved(b.data, from, offsets[1]), moved(out.data, to, done)};
              const auto part = static_cast<std::uint32_t>(plan.elements());
              if (launch.rows != nullptr) {
                launch.rows(pair, plan);
              } else {
                launch_any(stream, {pair.a, pair.b, pair.out, from, to, part, op}, Loops<2>(plan));
              }
              launched("an elementwise operation");
              done += part;
            });
}

void binary_kernel(Call& call) {
  run(call.stream(), call.op(), call.input(0), call.input(1), call.output(0));
}

void add_n(Call& call) {
  const ebb_cuda_tensor& out = call.output(0);
  if (call.inputs() == 1) return pack(call.stream(), call.input(0), out.data);
  run(call.stream(), Add::kOp, call.input(0), call.input(1), out);
  for (std::size_t i = 2; i < call.inputs(); ++i) {
    run(call.stream(), Add::kOp, out, call.input(i), out);
  }
}

struct Registrations {
  Registrations() {
    add(Real());
    add(OfIntegers());
  }
  template <typename... Functions>
  void add(List<Functions...>) {
    (Registration(Functions::kOp, binary_kernel), ...);
  }
};
const Registrations registered;
EBB_CUDA_KERNEL(AddN, add_n);

}  // namespace
}  // namespace ebb::cuda
