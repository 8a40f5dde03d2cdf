// ArgMax and ArgMin: the first of equal values; NaN wins only where it is the first element.
#include "backends/cuda/plugin/kernels/copy.cuh"
#include "backends/cuda/plugin/kernels/element.cuh"
#include "backends/cuda/plugin/kernels/reductions.cuh"
#include "ops/params/reductions.hpp"

namespace ebb::cuda {
namespace {

template <typename V>
struct Found {
  V value;
  std::int64_t index;
};

template <bool kMax>
struct Better {
  template <typename V>
  __device__ Found<V> operator()(Found<V> a, Found<V> b) const {
    const bool takes =
        (kMax ? b.value > a.value : b.value < a.value) || (b.value == a.value && b.index < a.index);
    return takes ? b : a;
  }
};

template <typename V>
struct ArgSource {
  using Value = Found<V>;
  static constexpr bool kPacks = false;
  DType dtype;
  const void* x;
  __device__ Value at(std::int64_t offset, std::int64_t k) const {
    return {load<V>(dtype, x, offset), k};
  }
  // Everybody begins with the first element: where it is NaN, nothing is better.
  __device__ Value start(std::int64_t offset) const { return {load<V>(dtype, x, offset), 0}; }
  static __device__ Value start_of(const Value* parts) { return *parts; }
};

struct ArgFinish {
  std::int32_t* out;
  template <typename V>
  __device__ void operator()(std::int64_t result, const Found<V>& found) const {
    out[result] = static_cast<std::int32_t>(found.index);
  }
};

template <bool kMax>
void arg_extreme(Call& call) {
  const auto& p = call.params<ops::ReduceParams>();
  if (elements(call.output(0)) == 0) return;
  const ebb_cuda_tensor& x = call.input(0);
  const void* data = x.data;  // without gaps: the params say how it lies
  const Layout layout{p.outer, p.count, p.inner};
  const ArgFinish finish{call.out<std::int32_t>(0)};
  const DType dtype = dtype_of(x);
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      return reduce(call, ArgSource<float>{dtype, data}, Better<kMax>(), finish, layout);
    case DType::kInt64:
      return reduce(call, ArgSource<std::int64_t>{dtype, data}, Better<kMax>(), finish, layout);
    default:
      return reduce(call, ArgSource<double>{dtype, data}, Better<kMax>(), finish, layout);
  }
}
EBB_CUDA_KERNEL(ArgMax, arg_extreme<true>);
EBB_CUDA_KERNEL(ArgMin, arg_extreme<false>);

}  // namespace
}  // namespace ebb::cuda
