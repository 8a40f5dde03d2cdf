// A copy from one strided box to another: what moving data comes down to. Slicing, transposing,
// reversing, tiling, broadcasting and padding differ only in offsets and steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/base/checked.hpp"
#include "ebb/base/shape.hpp"

namespace ebb::ops {

struct CopyPlan {
  static constexpr std::size_t kMostAxes = 2 * kMaxRank;  // tiling goes along each axis twice

  std::size_t axes = 0;
  std::array<std::int64_t, kMostAxes> extent{};
  std::array<std::int64_t, kMostAxes> from_step{};  // in elements; 0 repeats, negative reverses
  std::array<std::int64_t, kMostAxes> to_step{};
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;

  constexpr void add(std::int64_t count, std::int64_t from, std::int64_t to) noexcept {
    extent[axes] = count;
    from_step[axes] = from;
    to_step[axes++] = to;
  }
  // All of a box, axis by axis.
  void add(const Shape& shape, const std::array<std::int64_t, kMaxRank>& from,
           const std::array<std::int64_t, kMaxRank>& to) noexcept {
    for (std::size_t i = 0; i < shape.rank(); ++i) add(shape.dims()[i], from[i], to[i]);
  }
  constexpr std::int64_t elements() const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < axes; ++i) product = saturating_mul(product, extent[i]);
    return product;
  }
  // Leaves out axes of one element, and joins neighbours that go on as one.
  void simplify() noexcept;
};

}  // namespace ebb::ops
