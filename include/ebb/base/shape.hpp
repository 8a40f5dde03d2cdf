// The extents of a tensor, up to kMaxRank of them, held in place.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace ebb {

inline constexpr std::size_t kMaxRank = 6;

class Shape {
 public:
  Shape() = default;  // a scalar
  // Throws for more than kMaxRank extents or a negative one.
  explicit Shape(std::span<const std::int64_t> dims) {
    if (dims.size() > kMaxRank) [[unlikely]]
      refuse(dims);
    for (const std::int64_t dim : dims) {
      if (dim < 0) [[unlikely]]
        refuse(dims);
      dims_[rank_++] = dim;
    }
  }
  Shape(std::initializer_list<std::int64_t> dims)
      : Shape(std::span<const std::int64_t>(dims.begin(), dims.size())) {}

  // Of extents that have been checked, those past the rank 0: a plain copy.
  Shape(const std::array<std::int64_t, kMaxRank>& checked, std::uint8_t rank) noexcept
      : dims_(checked), rank_(rank) {}

  std::size_t rank() const noexcept { return rank_; }
  std::span<const std::int64_t> dims() const noexcept { return {dims_.data(), rank_}; }
  // Whether an extent is 0, and so there are no elements, however large the others are.
  bool empty() const noexcept {
    for (const std::int64_t dim : dims()) {
      if (dim == 0) return true;
    }
    return false;
  }
  // Throws if the product does not fit: `bytes` of a tensor are computed from it.
  std::uint64_t elements() const;
  // "[2,3]", "[]" for a scalar.
  std::string to_string() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    std::int64_t difference = a.rank_ ^ b.rank_;
    for (std::size_t i = 0; i < kMaxRank; ++i) difference |= a.dims_[i] ^ b.dims_[i];
    return difference == 0;
  }

 private:
  [[noreturn]] static void refuse(std::span<const std::int64_t> dims);

  // Those past the rank are 0.
  std::array<std::int64_t, kMaxRank> dims_{};
  std::uint8_t rank_ = 0;
};

// elements * element_size, checked. Throws where it does not fit 63 bits.
std::uint64_t bytes_of(const Shape& shape, std::size_t element_size);
std::string dims_to_string(std::span<const std::int64_t> dims);

}  // namespace ebb
