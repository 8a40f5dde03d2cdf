// Sums that several threads add to, for every dtype.
#pragma once

#include "backends/cuda/plugin/kernels/element.cuh"

namespace ebb::cuda {

// The 32-bit word around a small element is replaced as a whole, until nobody came between.
template <typename T, typename Change>
__device__ void change_within_word(T* at, Change change) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  auto* word = reinterpret_cast<unsigned*>(address & ~std::uintptr_t{3});
  const unsigned shift = static_cast<unsigned>(address & 3) * 8;
  constexpr unsigned kMask = sizeof(T) == 1 ? 0xffu : 0xffffu;
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::uint16_t>;
  unsigned old = *word, seen;
  do {
    seen = old;
    const T now = change(bits_as<T>(static_cast<Bits>((seen >> shift) & kMask)));
    const unsigned put = static_cast<unsigned>(bits_as<Bits>(now)) << shift;
    old = atomicCAS(word, seen, (seen & ~(kMask << shift)) | put);
  } while (old != seen);
}

template <typename T>
__device__ void atomic_add(T* to, T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> ||
                std::is_same_v<T, double>) {
    atomicAdd(to, value);
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
  } else if constexpr (kIsComplex<T>) {
    atomicAdd(reinterpret_cast<float*>(to), value.real());
    atomicAdd(reinterpret_cast<float*>(to) + 1, value.imag());
  } else {
    using A = Arithmetic<T>;
    change_within_word(to,
                       [value](T now) { return convert<T>(convert<A>(now) + convert<A>(value)); });
  }
}

}  // namespace ebb::cuda
