// Every context there is, and the bodies that serve them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tensor/context_body.hpp"

namespace ebb {

class ContextRegistry {
 public:
  static constexpr std::size_t kMost = 1024;

  static ContextRegistry& instance();
  ContextRegistry();

  // Throws Error(kWrongState) when there are too many, std::bad_alloc.
  std::pair<ContextBody&, ContextId> create(ContextOptions options);
  // The body that serves the context of that name; null if it has ended.
  ContextBody* find(ContextId id) const noexcept;
  // It has ended and holds nothing: its books are folded into those of the ended ones.
  void recycle(ContextBody& context) noexcept;

  // Whether any context has a storage on the device at that index.
  bool uses(DeviceIndex index);
  // That device has closed: what its books say is kept in those of all closed devices, at index 0.
  void close_books(Device& device) noexcept;

  // What contexts keep of that device's sum, together.
  std::uint64_t credit(DeviceIndex index) const noexcept;

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
  class Fork;
  struct Cell {
    std::unique_ptr<ContextBody> context;
    std::uint32_t generation = 0;
    bool taken = false;  // open, or ended and still holding something
  };

  mutable std::mutex mutex_;
  std::vector<Cell> cells_;
  std::array<std::atomic<ContextBody*>, kMost> found_{};
  std::array<Books, kMaxDevices> ended_{};
  CollectionCosts ended_costs_;
};

}  // namespace ebb
