// What was worked out once for a shape: plans by a list of numbers. One cache a thread, so that a
// plan may be written to while it runs.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>

namespace ebb::cuda {

class ShapeKey {
 public:
  ShapeKey& add(std::int64_t word) noexcept {
    words_[size_++] = word;
    return *this;
  }
  friend bool operator==(const ShapeKey& a, const ShapeKey& b) noexcept {
    return a.size_ == b.size_ &&
           std::memcmp(a.words_.data(), b.words_.data(), a.size_ * sizeof(std::int64_t)) == 0;
  }
  struct Hash {
    std::size_t operator()(const ShapeKey& key) const noexcept {
      std::uint64_t hash = key.size_;
      for (std::size_t i = 0; i < key.size_; ++i) {
        hash = (hash ^ static_cast<std::uint64_t>(key.words_[i])) * 0x9E3779B97F4A7C15ULL;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };

 private:
  std::array<std::int64_t, 32> words_;  // the first size_ are set
  std::size_t size_ = 0;
};

template <typename Plan>
class ShapeCache {
 public:
  // The plan of `key`, made by make() where there is none. Valid until the next call.
  template <typename Make>
  Plan& get(const ShapeKey& key, Make&& make) {
    if (const auto found = plans_.find(key); found != plans_.end()) return *found->second;
    // Shapes that never come again would pile up; starting over costs one choice for each in use.
    if (plans_.size() >= kMost) plans_.clear();
    return *plans_.emplace(key, std::make_unique<Plan>(make())).first->second;
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::unordered_map<ShapeKey, std::unique_ptr<Plan>, ShapeKey::Hash> plans_;
};

}  // namespace ebb::cuda
