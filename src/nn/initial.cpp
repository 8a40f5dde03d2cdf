#include "ebb/nn/initial.hpp"

#include <cmath>

#include "ebb/ops/functions.hpp"
#include "nn/draws.hpp"

namespace ebb::nn {
namespace {

thread_local std::uint32_t seed_of_thread = 0;
thread_local std::uint32_t drawn = 0;

// 0 stands for one that nobody knows.
double seed_or_none() noexcept { return is_seeded() ? next_seed() : 0; }

struct Fans {
  double in, out;
};

Fans fans_of(const Dims& dims) {
  if (dims.size() < 2) return {1, dims.empty() ? 1.0 : static_cast<double>(dims[0])};
  double window = 1;
  for (std::size_t i = 0; i + 2 < dims.size(); ++i) window *= static_cast<double>(dims[i]);
  return {window * static_cast<double>(dims[dims.size() - 2]),
          window * static_cast<double>(dims.back())};
}

}  // namespace

bool is_seeded() noexcept { return seed_of_thread != 0; }

double next_seed() noexcept {
  return 1.0 + seed_of_thread + 4294967296.0 * ++drawn;  // arithmetic: whole, far below 2^64
}

// SplitMix64's, of which the first half counts.
std::int32_t next_seed_of_step() noexcept {
  std::uint64_t z = (std::uint64_t{seed_of_thread} << 32 | ++drawn) + 0x9e3779b97f4a7c15U;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;  // arithmetic: a hash wraps around
  z = (z ^ z >> 27) * 0x94d049bb133111ebU;  // arithmetic: a hash wraps around
  return static_cast<std::int32_t>(z >> 32);
}

void set_seed(std::uint32_t seed) noexcept {
  seed_of_thread = seed;
  drawn = 0;
}

Tensor zeros(const Dims& dims) { return ops::fill(dims, 0, DType::kFloat32); }
Tensor ones(const Dims& dims) { return ops::fill(dims, 1, DType::kFloat32); }

Tensor uniform(const Dims& dims, double most) {
  return ops::random_uniform(dims, {.low = -most, .high = most, .seed = seed_or_none()});
}
Tensor normal(const Dims& dims, double standard_deviation) {
  return ops::random_normal(dims,
                            {.standard_deviation = standard_deviation, .seed = seed_or_none()});
}

Tensor glorot_uniform(const Dims& dims) {
  const Fans fans = fans_of(dims);
  return uniform(dims, std::sqrt(6 / (fans.in + fans.out)));
}
Tensor he_normal(const Dims& dims) { return normal(dims, std::sqrt(2 / fans_of(dims).in)); }

}  // namespace ebb::nn
