// Depot: full magazines of one stream by class. Runs under the pool's lock.
#pragma once

#include <array>

#include "memory/pool/thread_cache.hpp"

namespace ebb::detail {

class Depot {
 public:
  // Keeps no more than about this of a class; the rest goes back to the slabs.
  static constexpr std::uint32_t kMagazines = 16;

  bool has_room(std::uint32_t size_class) const noexcept {
    return counts_[size_class] < kMagazines;
  }

  void push(std::uint32_t size_class, Magazine* magazine) noexcept {
    magazine->next = full_[size_class];
    full_[size_class] = magazine;
    ++counts_[size_class];
    rounds_[size_class] += magazine->count.load(std::memory_order_relaxed);
  }

  Magazine* pop(std::uint32_t size_class) noexcept {
    Magazine* magazine = full_[size_class];
    if (magazine == nullptr) return nullptr;
    full_[size_class] = magazine->next;
    --counts_[size_class];
    rounds_[size_class] -= magazine->count.load(std::memory_order_relaxed);
    return magazine;
  }

  std::size_t blocks(std::uint32_t size_class) const noexcept { return rounds_[size_class]; }

 private:
  std::array<Magazine*, kClasses> full_{};
  std::array<std::uint32_t, kClasses> counts_{};
  std::array<std::size_t, kClasses> rounds_{};
};

}  // namespace ebb::detail
