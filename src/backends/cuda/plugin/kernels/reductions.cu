// Sums, products, extremes.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/reductions.cuh"
#include "backends/cuda/plugin/kernels/steps.cuh"
#include "ops/params/reductions.hpp"

namespace ebb::cuda {
namespace {

using Complex128 = Complex<double>;

// ---- more that is done with two elements, and where it begins

// NaN wins.
struct Larger {
  template <typename A>
  static __device__ A first() {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(std::uint64_t{1} << 63);
    } else {
      return static_cast<A>(-INFINITY);
    }
  }
  template <typename A>
  __device__ A operator()(A a, A b) const {
    return a != a ? a : b != b ? b : b > a ? b : a;
  }
};

struct Smaller {
  template <typename A>
  static __device__ A first() {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(~(std::uint64_t{1} << 63));
    } else {
      return static_cast<A>(INFINITY);
    }
  }
  template <typename A>
  __device__ A operator()(A a, A b) const {
    return a != a ? a : b != b ? b : b < a ? b : a;
  }
};

// ---- where elements come from

// float32, joined as A.
template <typename A, typename Step>
struct FloatSource {
  using Value = A;
  static constexpr bool kPacks = true;
  const float* x;
  bool aligned;  // every row begins at a multiple of 16 bytes
  __device__ A at(std::int64_t offset, std::int64_t) const { return x[offset]; }
  __device__ A start(std::int64_t) const { return Step::template first<A>(); }
  static __device__ A start_of(const A*) { return Step::template first<A>(); }

  // Elements [begin, end) of a row, those of one lane.
  __device__ A packs(std::int64_t base, std::int64_t begin, std::int64_t end, int lane, int lanes,
                     A total, Step step) const {
    constexpr int kUnroll = 4;
    std::int64_t k = begin;
    if (aligned) {
      using In = Pack<float, 4>;
      const In* from = reinterpret_cast<const In*>(x + base + begin);
      const std::int64_t count = (end - begin) / 4;
      A parts[4] = {total, total, total, total};
      std::int64_t i = lane;
      for (; i + (kUnroll - 1) * lanes < count; i += kUnroll * lanes) {
        In in[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) in[u] = from[i + u * lanes];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) {
#pragma unroll
          for (int j = 0; j < 4; ++j) parts[j] = step(parts[j], A{in[u].element[j]});
        }
      }
      for (; i < count; i += lanes) {
        const In in = from[i];
#pragma unroll
        for (int j = 0; j < 4; ++j) parts[j] = step(parts[j], A{in.element[j]});
      }
      total = step(step(parts[0], parts[1]), step(parts[2], parts[3]));
      k += count * 4;
    }
    for (k += lane; k < end; k += lanes) total = step(total, A{x[base + k]});
    return total;
  }
};

template <typename A, typename Step>
struct AnySource {
  using Value = A;
  static constexpr bool kPacks = false;
  DType dtype;
  const void* x;
  __device__ A at(std::int64_t offset, std::int64_t) const {
    if constexpr (std::is_same_v<A, Complex128>) {
      const Complex64 value = static_cast<const Complex64*>(x)[offset];
      return A(value.real(), value.imag());
    } else {
      return load<A>(dtype, x, offset);
    }
  }
  __device__ A start(std::int64_t) const { return Step::template first<A>(); }
  static __device__ A start_of(const A*) { return Step::template first<A>(); }
};

// ---- where results go

struct Finish {
  DType dtype;
  void* out;
  double scale;
  template <typename A>
  __device__ void operator()(std::int64_t result, A total) const {
    if constexpr (std::is_same_v<A, Complex128>) {
      total *= scale;
      static_cast<Complex64*>(out)[result] =
          Complex64(static_cast<float>(total.real()), static_cast<float>(total.imag()));
    } else {
      if constexpr (!std::is_integral_v<A>) total *= static_cast<A>(scale);
      store(dtype, out, result, total);
    }
  }
};

template <typename A>
struct FloatFinish {
  float* out;
  A scale;
  __device__ void operator()(std::int64_t result, A total) const {
    out[result] = static_cast<float>(total * scale);
  }
};

// ---- calls

// The operand with its reduced axes side by side. Where they are already, a strided one has no gaps
// either: the params say how it lies.
const void* gathered(Call& call, const ops::ReduceParams& p) {
  const ebb_cuda_tensor& x = call.input(0);
  if (!p.gathers) return x.data;
  const std::size_t size = size_of(dtype_of(x));
  auto* copied =
      call.workspace<std::byte>(checked_product({static_cast<std::size_t>(elements(x)), size}));
  copy(call.stream(), p.plan, size, x.data, copied);
  return copied;
}

bool is_integer(DType dtype) {
  return dtype == DType::kBool || dtype == DType::kInt32 || dtype == DType::kInt64 ||
         dtype == DType::kUint8 || dtype == DType::kInt8;
}

template <typename A, typename Step>
void reduce_floats(Call& call, const float* x, const Layout& layout, double scale) {
  const bool rows_aligned =
      aligned<float4>(x) && layout.inner == 1 && (layout.outer == 1 || layout.count % 4 == 0);
  reduce(call, FloatSource<A, Step>{x, rows_aligned}, Step(),
         FloatFinish<A>{call.out<float>(0), static_cast<A>(scale)}, layout);
}

template <typename Step>
void reduce_with(Call& call) {
  const auto& p = call.params<ops::ReduceParams>();
  const ebb_cuda_tensor& out = call.output(0);
  if (elements(out) == 0) return;
  const void* x = gathered(call, p);
  const DType dtype = dtype_of(call.input(0));
  const Layout layout{p.outer, p.count, p.inner};
  const bool mean = call.op() == ops::op_id("Mean");
  const double scale = mean ? 1.0 / static_cast<double>(p.count) : 1.0;
  const Finish finish{dtype_of(out), out.data, scale};
  if (dtype == DType::kFloat32 && !std::is_same_v<Step, Multiply>) {
    const auto* floats = static_cast<const float*>(x);
    if constexpr (std::is_same_v<Step, Add>) {
      // In float64, so that the mean of equal numbers is that number.
      if (mean) return reduce_floats<double, Step>(call, floats, layout, scale);
    }
    return reduce_floats<float, Step>(call, floats, layout, 1.0);
  }
  if (is_integer(dtype)) {
    return reduce(call, AnySource<std::int64_t, Step>{dtype, x}, Step(), finish, layout);
  }
  if constexpr (std::is_same_v<Step, Add> || std::is_same_v<Step, Multiply>) {
    if (dtype == DType::kComplex64) {
      return reduce(call, AnySource<Complex128, Step>{dtype, x}, Step(), finish, layout);
    }
  }
  reduce(call, AnySource<double, Step>{dtype, x}, Step(), finish, layout);
}

EBB_CUDA_KERNEL(Sum, reduce_with<Add>);
EBB_CUDA_KERNEL(Mean, reduce_with<Add>);
EBB_CUDA_KERNEL(Any, reduce_with<Add>);  // of booleans: not 0 where one of them is
EBB_CUDA_KERNEL(Prod, reduce_with<Multiply>);
EBB_CUDA_KERNEL(Max, reduce_with<Larger>);
EBB_CUDA_KERNEL(Min, reduce_with<Smaller>);
EBB_CUDA_KERNEL(All, reduce_with<Smaller>);

}  // namespace
}  // namespace ebb::cuda
