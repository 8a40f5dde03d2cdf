// A device: a name, a budget, and either a pool of Ebb's own or another runtime's memory that Ebb
// only books. Devices are process-wide; contexts share them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "ebb/memory/heap.hpp"
#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/pool.hpp"

namespace ebb {

using DeviceId = std::uint32_t;  // 1 .. kMaxDevices - 1; 0 is none
inline constexpr DeviceId kMaxDevices = 32;

enum class DeviceKind : std::uint8_t { kSystem = 0, kSimulated = 1, kForeign = 2, kCustom = 3 };

// What happens beyond the budget: a request fails, or one warning is given and the program goes on.
enum class BudgetMode : std::uint8_t { kHard = 0, kSoft = 1 };

struct DeviceOptions {
  DeviceKind kind = DeviceKind::kSystem;
  std::string name;
  std::uint64_t capacity = 0;  // simulated
  std::uint64_t budget = 0;    // bytes; 0: none
  BudgetMode mode = BudgetMode::kHard;
  std::unique_ptr<Heap> heap;  // custom: the device's memory
};

class Device {
 public:
  // Opens a device, or finds the one of that name and kind. Throws Error: no name, another kind
  // under that name, too many devices, a capacity that is missing.
  static Device& open(DeviceOptions options);
  // Undoes one opening; the last one closes the device. Throws Error(kWrongState) while it is in
  // use.
  static void close(Device& device);
  static Device* find(DeviceId id) noexcept;
  static Device* find(std::string_view name) noexcept;

  Device(DeviceId id, DeviceOptions options);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceId id() const noexcept { return id_; }
  const std::string& name() const noexcept { return name_; }
  DeviceKind kind() const noexcept { return kind_; }
  bool foreign() const noexcept { return kind_ == DeviceKind::kForeign; }
  // Pre: not foreign.
  Pool& pool() noexcept { return *pool_; }
  // The heap under the pool, without the budget. Null: foreign.
  Heap* heap() noexcept { return heap_.get(); }

  // The budget limits committed bytes; where the memory is another runtime's, booked bytes.
  void set_budget(std::uint64_t bytes, BudgetMode mode) noexcept;
  std::uint64_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }
  BudgetMode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }

  // Another runtime's bytes came or went.
  void foreign_born(std::uint64_t bytes) noexcept;
  void foreign_ended(std::uint64_t bytes) noexcept {
    foreign_in_use_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  // Pre: foreign. Whether `upcoming` more bytes would pass the budget.
  bool over_budget(std::uint64_t upcoming) const noexcept {
    const std::uint64_t budget = budget_.load(std::memory_order_relaxed);
    return budget != 0 && foreign_in_use_.load(std::memory_order_relaxed) + upcoming > budget;
  }

  std::uint64_t in_use() const noexcept;
  std::uint64_t committed() const noexcept;
  std::uint64_t peak_committed() const noexcept;

 private:
  void reopen(DeviceOptions options);

  const DeviceId id_;
  const DeviceKind kind_;
  const std::uint64_t capacity_;
  std::string name_;
  std::unique_ptr<Heap> heap_;
  std::unique_ptr<LimitHeap> limit_;
  std::unique_ptr<Pool> pool_;
  std::atomic<std::uint64_t> budget_{0};
  std::atomic<BudgetMode> mode_{BudgetMode::kHard};
  std::atomic<std::uint64_t> foreign_in_use_{0};
  std::atomic<std::uint64_t> foreign_peak_{0};
  std::uint32_t openings_ = 0;  // 0: closed; guarded by the registry's mutex, as is name_

  friend class DeviceRegistry;
};

}  // namespace ebb
