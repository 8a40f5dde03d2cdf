// The element types in a kernel, and elements of a tensor whose dtype is known at run time only:
// one kernel serves several dtypes.
#pragma once

#include "backends/cuda/plugin/kernels/both.cuh"
#include "backends/element.hpp"

namespace ebb::cuda {

// Element i of a tensor, as an A.
template <typename A>
EBB_BOTH A load(DType dtype, const void* from, std::int64_t i) {
  A value{};
  visit(dtype, [&]<typename T>(Type<T>) { value = convert<A>(static_cast<const T*>(from)[i]); });
  return value;
}

template <typename A>
EBB_BOTH void store(DType dtype, void* to, std::int64_t i, A value) {
  visit(dtype, [&]<typename T>(Type<T>) { static_cast<T*>(to)[i] = convert<T>(value); });
}

#ifdef __CUDACC__
// The same as functions of their own, for kernels that hold many operations: inlined, each of them
// would have the code of every dtype.
template <typename A>
__device__ __noinline__ A load_any(DType dtype, const void* from, std::int64_t i) {
  return load<A>(dtype, from, i);
}
template <typename A>
__device__ __noinline__ void store_any(DType dtype, void* to, std::int64_t i, A value) {
  store(dtype, to, i, value);
}
#endif

}  // namespace ebb::cuda
