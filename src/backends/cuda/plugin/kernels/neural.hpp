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

// Whether an index of every one of these fits 32 bits, with room for a grid's stride.
template <typename... Counts>
bool fits_32_bits(Counts... counts) noexcept {
  return (... && (counts < (std::int64_t{1} << 30)));
}

}  // namespace ebb::cuda
