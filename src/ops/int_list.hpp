// A short list of integers, held in place: extents, axes, paddings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ebb/base/check.hpp"

namespace ebb::ops {

class IntList {
 public:
  static constexpr std::size_t kMost = 16;

  IntList() = default;
  explicit IntList(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }
  IntList(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }

  // Pre: size() < kMost.
  void push_back(std::int64_t value) noexcept {
    EBB_ASSERT(size_ < kMost);
    values_[size_++] = value;
  }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t& operator[](std::size_t i) noexcept { return values_[i]; }
  std::int64_t operator[](std::size_t i) const noexcept { return values_[i]; }
  std::int64_t* begin() noexcept { return values_.data(); }
  std::int64_t* end() noexcept { return values_.data() + size_; }
  const std::int64_t* begin() const noexcept { return values_.data(); }
  const std::int64_t* end() const noexcept { return values_.data() + size_; }
  operator std::span<const std::int64_t>() const noexcept { return {values_.data(), size_}; }

 private:
  std::array<std::int64_t, kMost> values_{};
  std::size_t size_ = 0;
};

}  // namespace ebb::ops
