// Every context there is. Contexts are found without a lock by their name, so they are never
// destroyed: one that has ended and holds nothing any more is taken again by the next.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "ebb/tensor/context.hpp"

namespace ebb {

class ContextRegistry {
 public:
  static constexpr std::size_t kMost = 1024;

  static ContextRegistry& instance();

  // Throws Error(kWrongState) when there are too many, std::bad_alloc.
  Context& create(ContextOptions options);
  Context* find(std::uint64_t id) const noexcept;
  // It has ended: no longer found by name.
  void forget(std::uint64_t id) noexcept;
  // It has ended and holds nothing: its books are folded into those of the ended ones.
  void recycle(Context& context) noexcept;

  // Books of the ended contexts that were recycled.
  MemoryReading ended(const Device* device) const;

  // Every context that is not recycled, ended or not. Holds the registry's mutex: `visit` takes no
  // context of its own making.
  template <typename Visit>
  void for_each(Visit&& visit) {
    std::lock_guard guard(mutex_);
    for (auto& cell : cells_) {
      if (cell.context != nullptr && cell.taken) visit(*cell.context);
    }
  }

 private:
  struct Cell {
    std::unique_ptr<Context> context;
    std::uint32_t generation = 0;
    bool taken = false;  // open, or ended and still holding something
  };

  mutable std::mutex mutex_;
  std::vector<Cell> cells_;
  std::array<std::atomic<Context*>, kMost> found_{};
  std::array<Books, kMaxDevices> ended_{};
  std::array<Books, kMaxDevices> ended_backing_{};
  CollectionCosts ended_costs_;
};

}  // namespace ebb
