// What the neural kernels share beside launch.cuh: memory set to zero, and how wide an index must
// be.
#pragma once

#include "backends/cuda/plugin/kernels/launch.cuh"

namespace ebb::cuda {

inline void clear(Call& call, void* data, std::int64_t bytes) {
  if (bytes == 0) return;
  check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), call.stream()),
        "cudaMemsetAsync");
}

// A workspace as cuBLASLt and cuDNN want it: at a multiple of 256 bytes, which is more than the
// pool promises.
inline void* library_workspace(Call& call, std::size_t bytes) {
  constexpr std::uintptr_t kAlignment = 256;
  if (bytes == 0) return nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(call.workspace(bytes + kAlignment));
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

// Whether an index of every one of these fits 32 bits, with room for a grid's stride.
template <typename... Counts>
bool fits_32_bits(Counts... counts) noexcept {
  return (... && (counts < (std::int64_t{1} << 30)));
}

}  // namespace ebb::cuda
