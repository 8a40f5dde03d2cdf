// Which births are worth a look at the stack.
//
// A recording that is sampled takes the place of every tensor of `sample_bytes` and more. Of smaller
// ones it takes some, so that a byte anywhere has the same chance: a tensor of b bytes is taken with
// the probability 1 - exp(-(b + kNameBytes) / sample_bytes), and whoever reads the recording counts
// it for one over that many (docs/recording.md). Each name counts as kNameBytes besides: a program
// that leaks tensors of one element leaks their host objects.
#pragma once

#include <cstdint>

#include "observe/format.hpp"

namespace ebb::observe {

inline constexpr std::uint64_t kUsualSampleBytes = 512u << 10;
inline constexpr std::uint64_t kNameBytes = 1024;

// Process-wide; the recorder's.
void set_sampling(Mode mode, std::uint64_t sample_bytes) noexcept;

// A few nanoseconds. Always false without a recording or in mode counters, true in mode full.
bool wants_site(std::uint64_t bytes) noexcept;

// For how many tensors one of `bytes` stands that was taken.
double weight_of(std::uint64_t bytes, std::uint64_t sample_bytes) noexcept;

}  // namespace ebb::observe
