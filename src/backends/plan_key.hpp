// What was worked out once for a shape is found again by a list of numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "ebb/base/check.hpp"

namespace ebb::backends {

// What a plan depends on: the kind of work, shapes, strides, paddings.
class PlanKey {
 public:
  explicit PlanKey(std::int64_t kind) noexcept { add(kind); }
  // Pre: fewer than 48 are there.
  PlanKey& add(std::int64_t word) noexcept {
    EBB_ASSERT(size_ < words_.size());
    words_[size_++] = word;
    return *this;
  }
  PlanKey& add(std::span<const std::int64_t> words) noexcept {
    for (const std::int64_t word : words) add(word);
    return *this;
  }

  friend bool operator==(const PlanKey& a, const PlanKey& b) noexcept {
    return a.size_ == b.size_ &&
           std::memcmp(a.words_.data(), b.words_.data(), a.size_ * sizeof(std::int64_t)) == 0;
  }

  struct Hash {
    std::size_t operator()(const PlanKey& key) const noexcept {
      std::uint64_t hash = key.size_;
      for (std::size_t i = 0; i < key.size_; ++i) {
        hash = (hash ^ static_cast<std::uint64_t>(key.words_[i])) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };

 private:
  std::array<std::int64_t, 48> words_;  // the first size_ are set
  std::size_t size_ = 0;
};

}  // namespace ebb::backends
