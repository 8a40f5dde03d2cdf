// The code of a chain (ops/chain.hpp), as both sides of a plug-in read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ops/params/program_ops.hpp"

namespace ebb::ops {

inline constexpr std::size_t kChainWords = 6;
inline constexpr std::size_t kMostChainSteps = 16, kMostChainInputs = 16;
// Shorter rows that share a number are not worth their beginnings.
inline constexpr std::int64_t kLeastChainRow = 64;
// On a device that works on its own, where a chain also takes its inputs as they lie.
inline constexpr std::size_t kMostDeviceChainSteps = 40, kMostDeviceChainInputs = 24;

// What step i takes: inputs, then what the steps before it have made; -1: nothing.
inline std::array<int, 3> chain_places(std::span<const double> code, std::size_t i) noexcept {
  const std::span<const double> words = code.subspan(i * kChainWords, kChainWords);
  const bool three = static_cast<OpId>(words[0]) == op_id("Select");
  return {static_cast<int>(words[1]), static_cast<int>(words[2]),
          three ? static_cast<int>(words[3]) : -1};
}

}  // namespace ebb::ops
