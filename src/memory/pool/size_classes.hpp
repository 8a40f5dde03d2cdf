// Sizes of small blocks: multiples of 64 B, eight to a doubling from 512 B on, so that rounding
// wastes an eighth at most (below 512 B: less than 64 B). All tables are made by the compiler.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ebb::detail {

inline constexpr std::size_t kStep = 64;
inline constexpr std::size_t kSmallLimit = 64 << 10;
inline constexpr std::size_t kClasses = 64;
inline constexpr std::uint32_t kLargeClass = 127;  // in a block's tag: not of a size class
inline constexpr std::size_t kQuantum = 1 << 10;   // large sizes are multiples of this
inline constexpr std::size_t kMaxBytes = std::size_t{1} << (sizeof(std::size_t) == 8 ? 46 : 31);
inline constexpr std::size_t kSlabBlocks = 384;  // at most, so that a slab's bitmap fits its record
inline constexpr std::size_t kSlabBytes = 64 << 10;  // at least, where kSlabBlocks allows
inline constexpr std::size_t kMagazineRounds = 64;

inline constexpr auto kClassBytes = [] {
  std::array<std::size_t, kClasses> bytes{};
  std::size_t size = 0;
  for (std::size_t& entry : bytes) {
    const std::size_t doubling = size < 512 ? 512 : std::bit_floor(size);
    entry = size += doubling / 8;
  }
  return bytes;
}();
static_assert(kClassBytes[0] == 64 && kClassBytes[kClasses - 1] == kSmallLimit);

inline constexpr auto kClassOfSteps = [] {
  std::array<std::uint8_t, kSmallLimit / kStep + 1> classes{};
  std::size_t cls = 0;
  for (std::size_t steps = 0; steps < classes.size(); ++steps) {
    if (steps * kStep > kClassBytes[cls]) ++cls;
    classes[steps] = std::uint8_t(cls);
  }
  return classes;
}();

// Pre: bytes <= kSmallLimit.
constexpr std::uint32_t class_of(std::size_t bytes) {
  return kClassOfSteps[(bytes + kStep - 1) / kStep];
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

struct SlabShape {
  std::uint32_t blocks;      // in a slab
  std::uint32_t bytes;       // of a slab
  std::uint64_t reciprocal;  // offset in steps * reciprocal >> 32 = index of the block
};

inline constexpr auto kSlabShapes = [] {
  std::array<SlabShape, kClasses> shapes{};
  for (std::size_t c = 0; c < kClasses; ++c) {
    const std::size_t blocks = std::clamp<std::size_t>(kSlabBytes / kClassBytes[c], 4, kSlabBlocks);
    const std::size_t steps = kClassBytes[c] / kStep;
    shapes[c] = {std::uint32_t(blocks), std::uint32_t(round_up(blocks * kClassBytes[c], kQuantum)),
                 ((std::uint64_t{1} << 32) + steps - 1) / steps};
  }
  return shapes;
}();

}  // namespace ebb::detail
