// std::mt19937_64 and the distributions of libstdc++, as functions that host and device share: with
// the same seed a GPU draws the CPU's numbers.
#pragma once

#include <cmath>

#include "backends/cuda/plugin/kernels/both.cuh"

namespace ebb::cuda::mersenne {

inline constexpr int kState = 312;  // words
inline constexpr int kShift = 156;

struct State {
  std::uint64_t word[kState];
};

inline State seeded(std::uint64_t seed) {
  State state;
  state.word[0] = seed;
  for (int i = 1; i < kState; ++i) {
    const std::uint64_t last = state.word[i - 1];
    state.word[i] = (last ^ (last >> 62)) * 6364136223846793005u + static_cast<std::uint64_t>(i);
  }
  return state;
}

// The word that takes the place of `word`, from itself, the next one and the one kShift further on.
EBB_BOTH std::uint64_t twisted(std::uint64_t word, std::uint64_t next, std::uint64_t further) {
  constexpr std::uint64_t kUpper = ~std::uint64_t{0} << 31;
  const std::uint64_t y = (word & kUpper) | (next & ~kUpper);
  return further ^ (y >> 1) ^ ((y & 1) != 0 ? 0xb5026f5aa96619e9u : 0u);
}

EBB_BOTH std::uint64_t tempered(std::uint64_t word) {
  word ^= (word >> 29) & 0x5555555555555555u;
  word ^= (word << 17) & 0x71d67fffeda60000u;
  word ^= (word << 37) & 0xfff7eee000000000u;
  return word ^ (word >> 43);
}

// std::generate_canonical<double, 53>
EBB_BOTH double canonical(std::uint64_t draw) {
  const double value = static_cast<double>(draw) * 0x1p-64;
  return value >= 1.0 ? 0x1.fffffffffffffp-1 : value;
}

// One attempt of std::normal_distribution: two draws, two values or none.
struct Attempt {
  bool accepted;
  double first, second;
};

EBB_BOTH Attempt polar(std::uint64_t one, std::uint64_t two) {
  const double x = sum(product(2.0, canonical(one)), -1.0);
  const double y = sum(product(2.0, canonical(two)), -1.0);
  const double square = sum(product(x, x), product(y, y));
  if (square > 1.0 || square == 0.0) return {false, 0, 0};
  const double scale = sqrt(product(-2.0, log(square)) / square);
  return {true, product(y, scale), product(x, scale)};
}

}  // namespace ebb::cuda::mersenne
