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

enum class DeviceKind : std::uint8_t {
  kSystem = 0,
  kSimulated = 1,
  kForeign = 2,
  kCustom = 3,
  kCuda = 4,  // "cuda:0": a GPU, through the plug-in
};
inline constexpr std::size_t kDeviceKinds = 5;

// "cuda:1" is a GPU's name, any other that of a device of system memory.
DeviceKind kind_of_name(std::string_view name) noexcept;

// What happens beyond the budget: a request fails, or one warning is given and the program goes on.
enum class BudgetMode : std::uint8_t { kHard = 0, kSoft = 1 };

struct DeviceOptions {
  DeviceKind kind = DeviceKind::kSystem;
  std::string name{};
  std::uint64_t capacity = 0;  // simulated
  std::uint64_t budget = 0;    // bytes; 0: none
  BudgetMode mode = BudgetMode::kHard;
  std::unique_ptr<Heap> heap{};  // custom: the device's memory
};

// Makes the memory of a kind that this layer does not know; throws Error where it is not there.
// Installed by that kind's backend when its library is loaded.
using HeapMaker = std::unique_ptr<Heap> (*)(const DeviceOptions& options);
void install_heap_maker(DeviceKind kind, HeapMaker maker) noexcept;

// One context's bytes on a foreign device. Only that context writes it, so counting a tensor is a
// plain store; the device sums the shards of the contexts that use it.
struct ForeignShard {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> last_birth{0};  // bytes of the newest; the next is often like it
  ForeignShard* next = nullptr;
  bool joined = false;

  void add(std::uint64_t more) noexcept {
    bytes.store(bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

class Device {
 public:
  // Opens a device, or finds the one of that name and kind. Throws Error: no name, another kind
  // under that name, too many devices, a capacity that is missing.
  static Device& open(DeviceOptions options);
  // Undoes one opening. The last one closes the device: it waits for queued work, and gives the
  // memory back. Throws Error(kWrongState) while it is in use.
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
  // Copies and captures. Null: the host can address the memory.
  DeviceLink* link() const noexcept { return link_; }

  // The budget limits committed bytes; where the memory is another runtime's, booked bytes.
  // What is cached above a lowered budget goes back at once, what is in use when it has ended.
  void set_budget(std::uint64_t bytes, BudgetMode mode) noexcept;
  // Pre: not foreign. The pool asks for nothing while it has something cached, so whoever allocates
  // looks whether a budget was lowered.
  bool over_committed() const noexcept { return limit_->committed() > limit_->limit(); }
  void trim_to_budget() noexcept;
  // Waits for queued work, since what it may still use cannot go, and gives up to `bytes` of cached
  // memory back to the system. Returns how many it gave; none where the memory is another
  // runtime's.
  std::size_t trim(std::size_t bytes) noexcept;
  std::uint64_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }
  BudgetMode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }

  // A context begins to book this device's bytes in its shard. Once for each shard, for ever:
  // contexts and foreign devices are never destroyed.
  void join(ForeignShard& shard) noexcept;
  // Another runtime's bytes came or went. Pre: under the lock of the shard's context.
  void foreign_born(ForeignShard& shard, std::uint64_t bytes) noexcept {
    shard.add(bytes);
    const std::uint64_t now = foreign_in_use();
    if (now > foreign_peak_.load(std::memory_order_relaxed)) raise_peak(now);
  }
  void foreign_ended(ForeignShard& shard, std::uint64_t bytes) noexcept { shard.add(~bytes + 1); }
  // Pre: foreign. Whether `upcoming` more bytes would pass the budget.
  bool over_budget(std::uint64_t upcoming) const noexcept {
    const std::uint64_t budget = budget_.load(std::memory_order_relaxed);
    const std::uint64_t in_use = foreign_in_use();
    return budget != 0 && (in_use > budget || upcoming > budget - in_use);
  }

  std::uint64_t in_use() const noexcept;
  std::uint64_t committed() const noexcept;
  std::uint64_t peak_committed() const noexcept;

 private:
  void reopen(DeviceOptions options);
  void raise_peak(std::uint64_t bytes) noexcept;
  std::uint64_t foreign_in_use() const noexcept {
    std::uint64_t sum = 0;
    for (const ForeignShard* shard = shards_.load(std::memory_order_acquire); shard != nullptr;
         shard = shard->next) {
      sum += shard->bytes.load(std::memory_order_relaxed);
    }
    return sum;
  }

  const DeviceId id_;
  const DeviceKind kind_;
  std::size_t capacity_ = 0;  // simulated: what was asked for
  std::string name_;
  std::unique_ptr<Heap> heap_;
  DeviceLink* link_ = nullptr;
  std::unique_ptr<LimitHeap> limit_;
  std::unique_ptr<Pool> pool_;
  std::atomic<std::uint64_t> budget_{0};
  std::atomic<BudgetMode> mode_{BudgetMode::kHard};
  std::atomic<ForeignShard*> shards_{nullptr};
  std::atomic<std::uint64_t> foreign_peak_{0};
  std::uint32_t openings_ = 0;  // 0: closed; guarded by the registry's mutex, as is name_

  friend class DeviceRegistry;
};

}  // namespace ebb
