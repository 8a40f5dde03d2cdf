// What the neural kernels share: how large a grid is, whether a launch was taken, memory set to
// zero.
#pragma once

#include <algorithm>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

inline constexpr int kThreads = 256;

// Blocks for `count` threads' worth of work. Kernels stride over their grid, so fewer do as well.
inline unsigned blocks_for(std::int64_t count, std::int64_t a_block = kThreads) noexcept {
  constexpr std::int64_t kMost = 1 << 20;
  return static_cast<unsigned>(std::clamp<std::int64_t>((count + a_block - 1) / a_block, 1, kMost));
}

// After a launch. Throws Failure.
inline void check_launch(std::string_view kernel) { check(cudaGetLastError(), kernel); }

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

// The device that this thread's calls go to: run() has made it current.
inline int current_ordinal() {
  int ordinal = 0;
  check(cudaGetDevice(&ordinal), "cudaGetDevice");
  return ordinal;
}

}  // namespace ebb::cuda
