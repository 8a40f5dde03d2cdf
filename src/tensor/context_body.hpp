// What a Context names: the root region, the handle table, the orphan queue and the books of one
// host. Bodies are found without a lock, so they are never destroyed: one whose context has ended
// and that holds nothing any more serves the next. So every call says which context it means, and
// `enter` compares under the lock.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "ebb/tensor/context.hpp"
#include "memory/biased_lock.hpp"
#include "memory/foreign_credit.hpp"
#include "tensor/handle_table.hpp"
#include "tensor/key_map.hpp"

namespace ebb {

class ContextBody {
 public:
  ContextBody();

  // Whether that context is open here; a hint, outside the lock. Zero names none.
  bool serves(ContextId id) const noexcept {
    return id != 0 && open_id_.load(std::memory_order_relaxed) == id;
  }
  bool close(ContextId id);
  std::string name(ContextId id);

  Handle make(ContextId id, const TensorSpec& spec);
  MadeTensor make_held(ContextId id, const TensorSpec& spec);
  Handle view(ContextId id, Handle base, std::uint64_t byte_offset, const TensorSpec& spec);
  Handle strided_view(ContextId id, Handle base, const Operand& seen, std::uint64_t byte_offset,
                      const Strides& strides, const TensorSpec& spec);
  Handle share(ContextId id, Handle handle, RegionId region);
  Handle adopt(ContextId id, const ForeignSpec& spec);
  void rebook(ContextId id, Handle handle, Device* device, std::uint64_t bytes);
  bool dispose(ContextId id, Handle handle);
  void discard(ContextId id, Handle handle) noexcept;
  std::uint64_t end_all(ContextId id, std::span<const Handle> handles, Reason reason);
  void made_at(ContextId id, Handle handle, SiteId site);
  TensorInfo describe(ContextId id, Handle handle);
  StorageRef hold(ContextId id, Handle handle);
  bool is_alone(ContextId id, Handle handle);
  bool resolve(ContextId id, std::span<const Handle> handles, std::span<Operand> operands,
               std::string_view who);
  void make_dense(ContextId id, Handle handle, Operand& operand);
  Handle hold_by_name(ContextId id, Handle handle);
  static std::span<std::byte> held_data(Handle hold);
  static bool release_by_name(Handle hold);

  RegionId root(ContextId id);
  RegionId open(ContextId id, RegionId parent, std::string_view label);
  bool close(ContextId id, RegionId region);
  void attach(ContextId id, RegionId region, Handle handle);
  void attach_temporarily(ContextId id, RegionId region, Handle handle);
  void detach(ContextId id, Handle handle);
  void move_to_parent(ContextId id, Handle handle);
  void cap(ContextId id, RegionId region);
  RegionId shortest_lived(ContextId id, std::span<const Handle> handles);
  RegionInfo describe_region(ContextId id, RegionId region);

  Drained safe_point(ContextId id, Device* device, std::uint64_t upcoming, bool scoped);
  Drained collect(ContextId id, Collection kind, bool rationed);
  Drained make_room(ContextId id, Device& device, std::uint64_t bytes);
  std::uint32_t idle(ContextId id, Drained* drained);
  Drained walk(ContextId id, std::uint64_t list, std::uint64_t entries);

  MemoryReading memory(ContextId id, const Device* device);
  static MemoryReading total_memory(const Device* device);
  static void audit();
  std::vector<SiteHolding> holdings(ContextId id, const Device* device, By by);
  static std::vector<SiteHolding> total_holdings(const Device* device, By by);

  // A call that makes records. Where there is none to be had, room is made for one and the call is
  // made again; it must have left nothing behind. Throws OutOfMemory.
  template <typename Call>
  auto with_records(ContextId id, std::string_view who, Call&& call) {
    while (true) {
      std::optional<NoRecord> missing;
      try {
        return call();
      } catch (const NoRecord& none) {
        missing = none;
      }
      find_record(id, *missing, who);
    }
  }

 private:
  friend class StorageRef;
  friend class ContextRegistry;
  friend class SnapshotWriter;
  friend class LiveTensors;
  // The chunks of records that no context uses, of each kind.
  template <typename Use>
  static void for_each_stock(Use&& use) {
    use(SlotSpace<TensorRecord>::stock());
    use(SlotSpace<Region>::stock());
    use(RecordArena<Storage>::Pool::stock());
    use(RecordArena<StridedLayout>::Pool::stock());
  }
  class EndBatch;
  template <std::size_t kMost>
  class EndBatchOf;
  using OneEnd = EndBatchOf<1>;
  using ManyEnds = EndBatchOf<32>;
  class OwnLadder;
  class ForeignLadder;
  class RecordLadder;
  class ClimbScope;
  class Visit;
  enum class Scope : std::uint8_t { kOwn, kAll };
  // Of the host's thread: to collect at its next safe point, because another context could use the
  // memory, or because a thread of this one waits for it.
  enum class Asked : std::uint8_t { kNothing, kByOthers, kByOwnThread };
  using Lock = std::unique_lock<BiasedLock>;

  // What a new record says of its tensor.
  struct Entry {
    DType dtype;
    std::span<const std::int64_t> dims;
    SiteId site;
    std::uint64_t tag;
    std::uint8_t flags;
  };
  struct Born {
    Handle handle;
    Storage* storage;
  };
  struct Found {
    ContextBody* context;
    TensorRecord* record;  // null: it has ended, and so has the rest
    Lock lock;
  };

  void reopen(ContextOptions options, ContextId id);
  void await_visitors(Lock& lock) noexcept;
  void go_on_alone() noexcept;  // in the child of a fork
  void retire_if_empty() noexcept;

  // The lock, in the context of that name. Throws kStaleHandle where it has ended.
  Lock enter(ContextId id, std::string_view who);
  // The same outside the lock: for calls that have nothing to do, and before a climb is blamed.
  void check_open(ContextId id, std::string_view who) {
    if (!serves(id)) [[unlikely]]
      enter(id, who);
  }
  [[noreturn]] static void raise_ended(Lock& lock, std::string_view who);
  // Releases the lock, then throws.
  template <typename... Args>
  [[noreturn]] static void refuse(Lock& lock, ErrorKind kind, fmt::format_string<Args...> text,
                                  Args... args) {
    lock.unlock();
    raise(kind, text, std::move(args)...);
  }

  // Under lock_. Those that take the lock release it before they throw.
  bool closed() const noexcept { return open_id_.load(std::memory_order_relaxed) == 0; }
  TensorRecord& live(Lock& lock, Handle handle, std::string_view who);
  Handle enter_view(Lock& lock, Storage& storage, std::uint64_t offset, const Strides* strides,
                    const TensorSpec& spec);
  TensorRecord& live_and_dense(Lock& lock, ContextId id, Handle handle, std::string_view who);
  static void take(Operand& operand, const TensorRecord& record, StorageRef& old) noexcept;
  bool take_if_rebound(Lock& lock, Handle handle, Operand& operand, StorageRef& old) noexcept;
  void rebind(TensorRecord& record, Storage& storage, EndBatch& batch) noexcept;
  [[noreturn]] void raise_stale(Lock& lock, Handle handle, std::string_view who);
  Region& region(Lock& lock, RegionId id, std::string_view who);
  Region& open_to(Lock& lock, RegionId id, std::string_view who);  // not capped
  std::pair<TensorRecord&, Storage&> acquire(Lock& lock, Device& device);
  void enter_storage(Storage& storage, Device& device, std::uint64_t bytes) noexcept;
  void book_foreign(Device& device, std::uint64_t bytes) noexcept;
  void unbook_foreign(Device& device, std::uint64_t bytes) noexcept;
  void give_credits_back() noexcept;
  void enter(TensorRecord& record, Storage& storage, Region& region, const Entry& entry) noexcept;
  TraceEvent storage_event(const Storage& storage, EventKind kind) const noexcept;
  void end(TensorRecord& record, Reason reason, EndBatch& batch) noexcept;
  void end_unlinked(TensorRecord& record, Reason reason, EndBatch& batch) noexcept;
  std::uint8_t end_storage(Storage& storage, Reason reason, EndBatch& batch) noexcept;
  void let_go(Storage& storage, EndBatch& batch) noexcept;
  void take_notices(Lock& lock) noexcept;  // all; lets others in meanwhile
  void end_kept(bool foreign, EndBatch& batch, std::uint64_t& since) noexcept;
  Region& region_or_root(Region& region) noexcept;
  Ledger& ledger(const Device& device) noexcept { return ledgers_[device.index()]; }
  std::atomic<std::uint64_t>& last_birth(const Device& device) noexcept {
    return last_births_[device.index()];
  }
  Books books(const Device* device) const noexcept;
  MemoryReading read(Lock& lock, const Device* device);
  std::uint64_t record_bytes() const noexcept;
  void audit_own();

  // Without it.
  [[noreturn]] void raise_out_of_memory(Device& device, std::uint64_t bytes, std::string_view who);
  static Found find_hold(Handle hold);
  // A new tensor, its storage with that many references.
  Born born(ContextId id, const TensorSpec& spec, std::uint32_t refs);
  Block allocate(ContextId id, const TensorSpec& spec, std::uint64_t bytes);
  Drained drain(ContextId id, Scope scope);
  Drained drain_batch(ContextId id, Scope scope, bool& more);
  bool drains_are_done() const noexcept;
  void carry_out(Lock& lock, EndBatch& batch);                  // releases the lock
  void end_region(Lock& lock, Region& closing, Reason reason);  // releases the lock
  Region* fill(EndBatch& batch, Region* doomed, Reason reason) noexcept;
  void end_root();
  void keep_under_budget(ContextId id, Device& device, std::uint64_t upcoming, Drained& drained);
  void look_at_overrun(Device& device, std::uint64_t upcoming);
  void pace(ContextId id, bool scoped, std::uint64_t upcoming, Drained& drained);
  bool climb(ContextId id, Ladder& ladder, Stake stake, std::uint64_t budget);
  Block find_room(ContextId id, const TensorSpec& spec, std::uint64_t bytes);
  void find_record(ContextId id, const NoRecord& missing, std::string_view who);
  [[noreturn]] void raise_no_names(std::string_view who);
  void keep_names(ContextId id, Drained& drained);
  bool wait_for_host(Ladder& ladder);
  std::uint64_t run_collector(Collection kind);
  bool may_collect() const;
  // Whether the host may be called for more than a warning: see ContextOptions::bound_to_thread.
  bool on_host_thread() const noexcept {
    const std::thread::id bound = host_thread_.load(std::memory_order_relaxed);
    return bound == std::thread::id() || bound == std::this_thread::get_id();
  }
  std::uint64_t born_bytes();  // so far, ever
  std::uint64_t births();
  void add_pressure(std::uint64_t bytes) noexcept {  // under lock_
    pressure_.store(pressure_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
  void take_pressure(std::uint64_t bytes) noexcept { add_pressure(~bytes + 1); }
  void warn_overrun(Device& device);
  bool ask_others(const Device* device);  // null: any
  Asked take_request(ContextId id);
  // A row for each live tensor, or for each hold. The lock is taken for a chunk of them at a time, so
  // that going over a million delays nobody; `use` is called without it.
  template <typename Row, typename Copy, typename Use>
  void for_each_row(bool holds, Copy&& copy, Use&& use) {
    std::vector<Row> rows;
    for (std::size_t c = 0; c < handles_.chunk_end(); ++c) {
      if (!handles_.has_chunk(c)) continue;
      rows.clear();
      rows.reserve(kChunkSlots);
      Lock lock(lock_);
      for (const TensorRecord& record : handles_.chunk(c)) {
        if (record.live() && record.has(TensorRecord::kHold) == holds) rows.push_back(copy(record));
      }
      lock.unlock();
      for (const Row& row : rows) use(row);
    }
  }
  void gather_holdings(const Device* device, By by, std::map<SiteId, SiteHolding>& sites);

  BiasedLock lock_;
  std::uint32_t visits_ = 0;           // calls that work here outside the lock
  ContextId id_ = 0;                   // of the last one that was open
  std::atomic<ContextId> open_id_{0};  // 0: none is, or it is about to end
  bool retired_ = true;                // nothing of the last one is left
  ContextOptions options_;
  Host* host_ = nullptr;  // while it may be called
  HandleTable handles_{this};
  std::unique_ptr<RegionTree> regions_;
  RecordArena<Storage> storages_;
  RecordArena<StridedLayout> layouts_;
  KeyMap keys_;                              // of foreign data
  std::array<Ledger, kMaxDevices> ledgers_;  // by device; [0]: devices that have closed
  std::array<ForeignCredit, kMaxDevices> credits_;
  // Bytes of the newest tensor on each foreign device: the next is often like it.
  std::array<std::atomic<std::uint64_t>, kMaxDevices> last_births_{};
  std::uint64_t born_bytes_ = 0;
  std::atomic<std::uint64_t> pressure_{0};         // live bytes, and name_bytes for each live name
  std::atomic<std::uint32_t> warned_devices_{0};   // of their overrun, a bit each
  std::atomic<std::uint32_t> foreign_devices_{0};  // those adopted from, a bit each
  std::atomic<Asked> asked_{Asked::kNothing};
  std::atomic<std::thread::id> host_thread_{};  // none: the host may be called on any
  std::unique_ptr<Governor> governor_;
  std::atomic<std::uint64_t> births_at_look_{0};  // when names were last collected for
  std::atomic<std::thread::id> climbing_{};       // the thread inside a climb, if any
  std::atomic<std::uint64_t> drains_begun_{0};    // that have blocks to give back; under the lock
  std::atomic<std::uint64_t> drains_done_{0};     // whose blocks are back
};

inline TensorRecord& ContextBody::live(Lock& lock, Handle handle, std::string_view who) {
  if (TensorRecord* record = handles_.find_tensor(handle)) [[likely]]
    return *record;
  raise_stale(lock, handle, who);
}

inline ContextBody::Lock ContextBody::enter(ContextId id, std::string_view who) {
  Lock lock(lock_);
  if (!serves(id)) [[unlikely]]
    raise_ended(lock, who);
  return lock;
}

}  // namespace ebb
