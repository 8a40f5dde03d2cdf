// What sums and products do with two elements, and where they begin: for reductions and scans.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ebb::cuda {

struct Add {
  template <typename A>
  static __device__ A first() {
    return A(0);
  }
  template <typename A>
  __device__ A operator()(A a, A b) const {
    if constexpr (std::is_integral_v<A>) {  // wraps around
      return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};

struct Multiply {
  template <typename A>
  static __device__ A first() {
    return A(1);
  }
  template <typename A>
  __device__ A operator()(A a, A b) const {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

}  // namespace ebb::cuda
