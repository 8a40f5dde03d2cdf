// Launching: grid sizes, and the check after each launch.
#pragma once

#include <algorithm>
#include <string_view>

#include "backends/cuda/plugin/driver.hpp"
#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

inline constexpr int kThreads = 256;  // of a block
inline constexpr std::int64_t kMostBlocks = 1 << 30;
// Blocks that keep a large GPU busy, all of them at once: 132 multiprocessors, up to 64 registers a
// thread.
inline constexpr std::int64_t kWave = 132 * 4;

// Blocks for `items` of which each takes `a_block`.
inline unsigned blocks_for(std::int64_t items, std::int64_t a_block = kThreads,
                           std::int64_t most = kMostBlocks) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((items + a_block - 1) / a_block, 1, most));
}

// A refused launch leaves an error behind; taken away, the next operation does not find it.
inline void launched(std::string_view what) {
  const cudaError_t error = cudaPeekAtLastError();
  if (error == cudaSuccess) [[likely]]
    return;
  (void)cudaGetLastError();
  check(error, what);
}

// A kernel as the driver knows it, whatever the device.
inline CUfunction driver_kernel(const void* kernel) {
  cudaKernel_t found{};
  check(cudaGetKernel(&found, kernel), "a kernel");
  return reinterpret_cast<CUfunction>(found);
}

// kernel<<<blocks, kThreads, 0, stream>>>(arguments...) without the runtime's own way there: for
// operations so small that the launch is most of them. Pre: the arguments have just the types of
// the kernel's parameters.
template <typename... Arguments>
void launch(CUfunction kernel, unsigned blocks, cudaStream_t stream, std::string_view what,
            Arguments... arguments) {
  static const auto launch_kernel = driver_function<decltype(cuLaunchKernel)>("cuLaunchKernel");
  void* places[] = {&arguments...};
  const CUresult result =
      launch_kernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, stream, places, nullptr);
  // The driver's numbers of errors are the runtime's.
  if (result != CUDA_SUCCESS) [[unlikely]]
    check(static_cast<cudaError_t>(result), what);
}

// A result of so many bytes would only push everything else out of the cache.
inline bool passes_the_cache(std::int64_t bytes) { return bytes >= std::int64_t{64} << 20; }

#ifdef __CUDACC__
// Stores a pack; past the cache where it is of 16 bytes.
template <typename Pack>
__device__ __forceinline__ void store_pack(Pack* to, const Pack& pack, bool past_the_cache) {
  if constexpr (sizeof(Pack) == sizeof(float4)) {
    if (past_the_cache) {
      __stcs(reinterpret_cast<float4*>(to), reinterpret_cast<const float4&>(pack));
      return;
    }
  }
  *to = pack;
}

// for (i = first(); i < count; i += all())
__device__ __forceinline__ std::int64_t first() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ std::int64_t all() { return std::int64_t{gridDim.x} * blockDim.x; }

template <typename Body>
__global__ void __launch_bounds__(kThreads) for_each_kernel(std::int64_t count, Body body) {
  for (std::int64_t i = first(); i < count; i += all()) body(i);
}

// body(i) for 0 <= i < count, on the device. Nothing is launched for none.
template <typename Body>
void for_each(cudaStream_t stream, std::int64_t count, std::string_view what, const Body& body) {
  if (count <= 0) return;
  for_each_kernel<<<blocks_for(count), kThreads, 0, stream>>>(count, body);
  launched(what);
}
#endif

}  // namespace ebb::cuda
