// A device: a name, a budget, and either a pool of Ebb's own or another runtime's memory that Ebb
// only books. Devices are process-wide; contexts share them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ebb/memory/heap.hpp"
#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/pool.hpp"

namespace ebb {

// A device's name: its index and a generation, so that none comes twice. 0 is none.
using DeviceId = std::uint32_t;
// Its place in tables, 1 .. kMaxDevices - 1, which the next device takes when it has closed.
using DeviceIndex = std::uint32_t;
inline constexpr DeviceIndex kMaxDevices = 32;

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

// What the layer above keeps for each device, by index. A device does not close while there is
// anything of it; when it has closed, the next one at its index begins with clean books.
class Device;
struct DeviceBooks {
  bool (*in_use)(DeviceIndex index) noexcept;
  void (*closed)(Device& device) noexcept;
  // What contexts have drawn of a foreign device's sum and do not use. Takes no lock.
  std::uint64_t (*credit)(DeviceIndex index) noexcept;
};
void install_device_books(const DeviceBooks& books) noexcept;  // `books` lives for ever

class Device {
 public:
  // Opens a device, or finds the one of that name and kind. Throws Error: no name, another kind
  // under that name, too many devices, a capacity that is missing.
  static Device& open(DeviceOptions options);
  // Undoes one opening. The last one closes the device: it waits for queued work, and gives the
  // memory back. Throws Error(kWrongState) while it is in use.
  static void close(Device& device);
  // The same by name. Throws Error(kStaleHandle) for one that is closed already.
  static void close(DeviceId id);
  // Null: it has closed, or never was. Whoever holds memory of the device knows that it stays open;
  // otherwise it may close, and be taken by another, at any time, so that callers look again, by
  // answers_to(), once they hold something.
  static Device* find(DeviceId id) noexcept;
  static Device* find(std::string_view name) noexcept;
  // Calls `use` with the device of that name, which stays open meanwhile. `use` opens and closes
  // none. Throws Error(kStaleHandle) where it has closed, or never was.
  static void visit(DeviceId id, const std::function<void(Device&)>& use);
  // The device that is open at an index, if one is.
  static Device* at(DeviceIndex index) noexcept;

  Device(DeviceIndex index, const std::string& name, DeviceOptions& options);  // the registry's
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // 0: closed.
  DeviceId id() const noexcept { return id_.load(std::memory_order_acquire); }
  // It is open under this name, and nobody is closing it.
  bool answers_to(DeviceId id) const noexcept {
    return id != 0 && callable_.load(std::memory_order_acquire) == id;
  }
  DeviceIndex index() const noexcept { return index_; }
  // Stays as it was read, also when the device closes and is taken by another.
  const std::string& name() const noexcept { return *name_.load(std::memory_order_acquire); }
  DeviceKind kind() const noexcept { return kind_; }
  bool foreign() const noexcept { return kind_ == DeviceKind::kForeign; }
  // Pre: not foreign.
  Pool& pool() noexcept { return *pool_; }
  // The heap under the pool, without the budget. Null: foreign.
  Heap* heap() noexcept { return heap_.get(); }
  // Copies and captures. Null: the host can address the memory.
  DeviceLink* link() const noexcept { return link_; }

  // The budget limits committed bytes; where the memory is another runtime's, booked bytes.
  // What is cached above a lowered budget goes back at once, what is in use when it has ended and
  // something is allocated. Throws Error(kInvalidArgument) for one that is too small to commit
  // anything; then nothing has changed.
  void set_budget(std::uint64_t bytes, BudgetMode mode);
  // Pre: not foreign. The pool asks for nothing while it has something cached, so whoever allocates
  // looks whether a budget was lowered, and then trims, though not every time.
  bool over_committed() const noexcept { return limit_->committed() > limit_->limit(); }
  void trim_to_budget_in_turn() noexcept;
  // Waits for queued work, since what it may still use cannot go, and gives up to `bytes` of cached
  // memory back to the system. Returns how many it gave; none where the memory is another
  // runtime's.
  std::size_t trim(std::size_t bytes) noexcept;
  std::uint64_t budget() const noexcept { return budget_.load(std::memory_order_relaxed); }
  BudgetMode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }

  // An overrun: more than a soft budget is reachable. The device may then fill up to a ceiling, at
  // which the governor looks again; 0: none. A new budget ends it.
  std::uint64_t ceiling() const noexcept {
    return mode() == BudgetMode::kSoft ? ceiling_.load(std::memory_order_relaxed) : 0;
  }
  void set_ceiling(std::uint64_t bytes) noexcept;
  // The budget, or the ceiling above it; 0: none.
  std::uint64_t limit() const noexcept { return std::max(budget(), ceiling()); }
  // Pre: not foreign, the budget is soft. A block where the ladder found no room: the ceiling
  // yields as far as it must. Null where the memory itself is exhausted.
  Block allocate_past_budget(std::size_t bytes, StreamId stream) noexcept;

  // Where the device's memory is the system's, the records that the books of its tensors are kept in
  // count towards its budget as well: a granule at a time, so that a few records take nothing away.
  // Whom a chunk of records is charged to, 0: nobody; nothing where the limit does not allow it.
  std::optional<DeviceId> charge_records(std::size_t bytes) noexcept;
  // Pre: charge_records gave the id, once for so many bytes. The device may have closed since.
  static void refund_records(DeviceId payer, std::size_t bytes) noexcept;
  // Pre: the budget is soft. Where the ladder found no room for records: the ceiling yields.
  void let_records_pass() noexcept;
  // What is charged, as it counts.
  std::uint64_t record_bytes() const noexcept { return whole_granules(records_.load()); }

  // Another runtime's bytes came or went. One counter for all contexts: with a part for each, asking
  // for the sum would cost as much as there are contexts. They keep some of what ended for what is
  // born next (memory/foreign_credit.hpp), so the sum may be higher than what is in use.
  void foreign_born(std::uint64_t bytes) noexcept {
    const std::uint64_t now = foreign_bytes_.fetch_add(bytes) + bytes;
    if (now > foreign_peak_.load(std::memory_order_relaxed)) raise_peak(now);
  }
  void foreign_ended(std::uint64_t bytes) noexcept {
    foreign_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  // The most that one context may keep.
  std::uint64_t most_credit() const noexcept {
    const std::uint64_t bytes = budget();
    return bytes == 0 ? kMostCredit : std::min(kMostCredit, bytes / kCreditsInBudget);
  }
  // Pre: foreign. Whether `upcoming` more bytes would pass the budget, or in an overrun the ceiling.
  bool over_budget(std::uint64_t upcoming) const noexcept { return passes(budget(), upcoming); }
  bool over_limit(std::uint64_t upcoming) const noexcept { return passes(limit(), upcoming); }

  std::uint64_t in_use() const noexcept;
  std::uint64_t committed() const noexcept;
  std::uint64_t peak_committed() const noexcept;

 private:
  static constexpr std::uint64_t kMostCredit = std::uint64_t{1} << 20;
  static constexpr std::uint64_t kCreditsInBudget = 1024;

  void reopen(const std::string& name, const DeviceOptions& options);
  void raise_peak(std::uint64_t bytes) noexcept;
  bool trim_to_budget() noexcept;  // whether it gave anything
  void apply_limit() noexcept;
  std::size_t heap_limit() const noexcept;
  std::uint64_t whole_granules(std::uint64_t records) const noexcept;
  bool allows(std::uint64_t records) const noexcept;
  // Where the sum passes it, what is in use decides: that is asked of each context.
  bool passes(std::uint64_t limit, std::uint64_t upcoming) const noexcept {
    const auto too_much = [=](std::uint64_t bytes) {
      return bytes > limit || upcoming > limit - bytes;
    };
    return limit != 0 && too_much(foreign_bytes_.load(std::memory_order_relaxed)) &&
           too_much(in_use());
  }

  const DeviceIndex index_;
  const DeviceKind kind_;
  std::atomic<DeviceId> id_{0};
  std::atomic<DeviceId> callable_{0};     // the same, but 0 while somebody tries to close it
  std::atomic<const std::string*> name_;  // one of the registry's, which keeps them for ever
  std::size_t capacity_ = 0;              // simulated: what was asked for
  std::unique_ptr<Heap> heap_;
  DeviceLink* link_ = nullptr;
  std::unique_ptr<LimitHeap> limit_;
  std::unique_ptr<Pool> pool_;
  std::atomic<std::uint64_t> budget_{0};
  std::atomic<BudgetMode> mode_{BudgetMode::kHard};
  std::atomic<std::uint64_t> ceiling_{0};
  std::atomic<std::uint32_t> trims_to_skip_{0};  // allocations over the budget that do not trim
  std::atomic<std::uint32_t> last_skip_{0};      // how many there were last time
  // Charged records: the id they are charged to, and in the lower half their pages. One word, so
  // that a refund that comes when the device has closed does not reach the next one.
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> foreign_bytes_{0};  // in use, and what contexts keep of it
  std::atomic<std::uint64_t> foreign_peak_{0};
  std::uint32_t openings_ = 0;  // 0: closed; guarded by the registry's mutex

  friend class DeviceRegistry;
};

}  // namespace ebb
