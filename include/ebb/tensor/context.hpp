// Context: one host's world. It owns the root region, the handle table, the orphan queue and the
// books of what this host made, and it is where a program meets them:
//
//   auto& cpu = Device::open({.name = "cpu", .budget = 1 << 30});
//   ContextPtr context = Context::create({.name = "main"});
//   StorageRef memory;
//   {
//     RegionScope scope(*context);
//     Handle a = context->make({.device = &cpu, .dtype = DType::kFloat32, .shape = {256, 1024},
//                               .region = scope.id()});
//     memory = context->hold(a);   // std::span<std::byte> memory.data()
//   }                              // a has ended with its region; memory is still held
//   context->audit();
//
// Every function may be called from any thread. Errors are ebb::Error; a name that has ended is
// kStaleHandle and the message says what it was.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ebb/base/error.hpp"
#include "ebb/base/spin_lock.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/memory/governor.hpp"
#include "ebb/memory/ledger.hpp"
#include "ebb/memory/orphan_queue.hpp"
#include "ebb/memory/region.hpp"
#include "ebb/memory/site_table.hpp"
#include "ebb/tensor/layout.hpp"
#include "ebb/tensor/storage.hpp"
#include "ebb/tensor/tensor_record.hpp"

namespace ebb {

// A foreign tensor that Ebb ended: its host now frees it.
struct ForeignEnd {
  Handle handle = 0;  // already stale
  std::uint64_t tag = 0;
  std::uint64_t key = 0;
  DeviceId device = 0;
  Reason reason = Reason::kDisposed;
  bool last = true;  // no other tensor shares the data any more
};

// What a context needs of its host. Called on the thread that called Ebb, with no lock held; it may
// call Ebb again, but not close the context. `end` and `warn` must not throw.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool can_collect() const { return false; }
  // Makes the collector run, now. Nanoseconds it took; 0: Ebb measures.
  virtual std::uint64_t collect(Collection) { return 0; }
  virtual void end(std::span<const ForeignEnd>) {}
  virtual void warn(std::string_view message);
};

struct ContextOptions {
  std::string name{};
  Host* host = nullptr;  // must outlive the context; null: no collector, nothing foreign
  bool minor = true;     // the collector has a minor collection that is cheaper than a major one
  double collect_share = 0.05;
  // Holds the memory behind another context's foreign tensors: not counted again in sums over all.
  bool backing = false;
};

struct TensorSpec {
  Device* device = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape{};
  RegionId region = 0;  // 0: the root
  SiteId site = 0;
  StreamId stream = kDefaultStream;
};

// A tensor as an operation sees it: its memory stays, whatever becomes of the tensor meanwhile.
struct Operand {
  StorageRef memory;
  std::byte* data = nullptr;  // of the first element
  DType dtype = DType::kUnknown;
  bool dense = true;       // in row-major order; else as the strides say
  std::uint32_t uses = 0;  // strided: how often it has been resolved, this time too
  Shape shape;
  Strides strides;  // set where it is not dense

  explicit operator bool() const noexcept { return data != nullptr; }
};

// Its values to the host, dense and in row-major order, and back; `bytes` are the operand's. What
// is on a device with a link, or written, is dense.
void read_operand(const Operand& operand, std::span<std::byte> bytes);
void write_operand(const Operand& operand, std::span<const std::byte> bytes);

struct MadeTensor {
  Handle handle = 0;
  StorageRef memory;
  std::byte* data = nullptr;
};

struct ForeignSpec {
  Device* device = nullptr;
  std::uint64_t key = 0;  // tensors with the same key share one storage; 0: with none
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
  DType dtype = DType::kUnknown;
  std::span<const std::int64_t> dims{};
  RegionId region = 0;
  SiteId site = 0;
  bool watched = true;
};

struct TensorInfo {
  Device* device = nullptr;
  DType dtype = DType::kUnknown;
  std::uint8_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  bool dense = true;  // Ebb's own; foreign: not known, said to be
  Strides strides{};  // Ebb's own
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t tag = 0;
  RegionId region = 0;
  SiteId site = 0;
  bool orphaned = false;
};

struct RegionInfo {
  RegionId parent = 0;
  std::uint32_t depth = 0;
  std::uint64_t tensors = 0;
  std::uint64_t children = 0;
  bool capped = false;
};

struct Drained {
  std::uint64_t tensors = 0;
  std::uint64_t bytes = 0;
  std::uint32_t collections = 0;
  Drained& operator+=(const Drained& other) noexcept;
};

struct MemoryReading {
  Books books;
  std::uint64_t orphans = 0;  // live and noticed, on all devices
  std::uint64_t peak_orphans = 0;
  std::uint64_t regions = 0;
  CollectionCosts collections;
  std::uint64_t lag_last_ns = 0;
  std::uint64_t lag_max_ns = 0;
};

// By what the live tensors are told apart: the place that made them, or the label of their region.
enum class By : std::uint8_t { kSite, kRegionLabel };

// Live bytes and tensors of one creation site, or of the regions with one label.
struct SiteHolding {
  SiteId site = 0;  // the interned site or label
  Tally live;
  std::uint64_t orphans = 0;
};

// Reclaim: process-wide, off at first, at any time, both ways.
void set_reclaim(bool on) noexcept;
bool reclaiming() noexcept;

class Context;
struct ContextCloser {
  void operator()(Context* context) const noexcept;
};
using ContextPtr = std::unique_ptr<Context, ContextCloser>;

class Context {
 public:
  static ContextPtr create(ContextOptions options);
  // By name; null if it has ended. The C ABI's way in.
  static Context* find(std::uint64_t id) noexcept;
  // Ends everything in it. Waits for calls under way on other threads; after it the host is not
  // called any more. What is still held comes back when it is let go. False if it had ended
  // already. Throws Error(kWrongState) inside one of the host's own callbacks.
  bool close();

  std::uint64_t id() const noexcept { return id_.load(std::memory_order_relaxed); }
  const std::string& name() const noexcept { return options_.name; }
  bool backing() const noexcept { return options_.backing; }
  Host* host() const noexcept { return options_.host; }

  // ---- tensors
  Handle make(const TensorSpec& spec);
  // Dense, over the bytes of the base as they are read: a strided base is made dense first.
  Handle view(Handle base, std::uint64_t byte_offset, const TensorSpec& spec);
  // Over the memory of the base as `seen` by resolve: elements of spec.dtype, the first of them
  // `byte_offset` bytes after the base's. 0 where the base has been made dense since.
  Handle strided_view(Handle base, const Operand& seen, std::uint64_t byte_offset,
                      const Strides& strides, const TensorSpec& spec);
  // Another tensor like this one over the same memory.
  Handle share(Handle handle, RegionId region = 0);
  Handle adopt(const ForeignSpec& spec);
  void rebook(Handle handle, Device* device, std::uint64_t bytes);
  // False if it had ended already. Throws for a name that never was.
  bool dispose(Handle handle);
  TensorInfo describe(Handle handle);
  StorageRef hold(Handle handle);
  // What an operation needs of its operands, all of them under one lock: a reference each, before
  // anything is allocated. A handle of 0 leaves its operand empty. Throws for a name that has ended
  // and for another runtime's data; `who` begins the message. True: some are strided. Pre: the
  // operands are empty.
  bool resolve(std::span<const Handle> handles, std::span<Operand> operands, std::string_view who);
  // Makes the operand dense, and the tensor it was resolved from, for good (ebb/tensor/layout.hpp).
  // Throws OutOfMemory; then both are as they were. A tensor that has ended since stays ended.
  void make_dense(Handle handle, Operand& operand);
  // What read_operand() needs: the same, where the operand is on a device with a link.
  void make_readable(Handle handle, Operand& operand);
  // A new tensor and a reference on it: for whoever writes it next.
  MadeTensor make_held(const TensorSpec& spec);
  // The same as a name, for hosts. The tensor is dense from then on.
  Handle hold_by_name(Handle handle);
  static std::span<std::byte> held_data(Handle hold);
  static bool release_by_name(Handle hold);

  // ---- regions
  RegionId root();
  RegionId open(RegionId parent = 0, std::string_view label = {});
  // False if it had ended already.
  bool close(RegionId region);
  void attach(RegionId region, Handle handle);
  void attach_temporarily(RegionId region, Handle handle);
  void detach(Handle handle);
  void move_to_parent(Handle handle);
  void cap(RegionId region);
  RegionId shortest_lived(std::span<const Handle> handles);
  RegionInfo describe_region(RegionId region);

  // ---- reclaim
  // The death notice. Any thread, also inside a collection; stale names and second notices do
  // nothing.
  static void orphan(Handle handle) noexcept;
  // No kernel of the host's is running: gives orphans back, foreign ones too, and keeps the foreign
  // `device` (null: all of them) under its budget, `upcoming` more bytes being about to be born.
  Drained safe_point(Device* device = nullptr, std::uint64_t upcoming = 0);
  Drained collect(Collection kind, bool rationed = false);
  // The whole ladder for another runtime that ran out. Throws OutOfMemory if nothing came back.
  Drained make_room(Device& device, std::uint64_t bytes);

  // ---- the books
  MemoryReading memory(const Device* device = nullptr);
  // All contexts, ended ones too.
  static MemoryReading total_memory(const Device* device = nullptr);
  // The law of the ledger, over everything: throws Error(kInternal) naming the sum that is off.
  static void audit();
  // Who holds what on the device (null: all), most bytes first. Data that several tensors share is
  // split among them.
  std::vector<SiteHolding> holdings(const Device* device = nullptr, By by = By::kSite);
  static std::vector<SiteHolding> total_holdings(const Device* device = nullptr, By by = By::kSite);

 private:
  friend class StorageRef;
  friend class ContextRegistry;
  friend class SnapshotWriter;
  friend struct ContextCloser;
  class EndBatch;
  template <std::size_t kMost>
  class EndBatchOf;
  using OneEnd = EndBatchOf<1>;
  using ManyEnds = EndBatchOf<32>;
  class OwnLadder;
  class ForeignLadder;
  class ClimbScope;
  class Visit;
  struct Internals;
  enum class Scope : std::uint8_t { kOwn, kAll };
  using Lock = std::unique_lock<SpinLock>;

  // The handle table, which leads from a bare handle to its context.
  struct Records : SlotTable<TensorRecord> {
    explicit Records(Context& c) : context(c) {}
    Context& context;
  };
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
    Context* context;
    TensorRecord* record;  // null: it has ended, and so has the rest
    Lock lock;
  };

  Context();
  void reopen(ContextOptions options, std::uint64_t id);
  void await_visitors(Lock& lock) noexcept;
  void await_notices() noexcept;
  void retire_if_empty() noexcept;

  // Under lock_. Those that take the lock release it before they throw.
  TensorRecord& live(Lock& lock, Handle handle, std::string_view who);
  Handle enter_view(Lock& lock, Storage& storage, std::uint64_t offset, const Strides* strides,
                    const TensorSpec& spec);
  TensorRecord& live_and_dense(Lock& lock, Handle handle, std::string_view who);
  static void take(Operand& operand, const TensorRecord& record, StorageRef& old) noexcept;
  bool take_if_rebound(Lock& lock, Handle handle, Operand& operand, StorageRef& old) noexcept;
  void rebind(TensorRecord& record, Storage& storage, EndBatch& batch) noexcept;
  Region& region(Lock& lock, RegionId id, std::string_view who);
  Region& open_to(Lock& lock, RegionId id, std::string_view who);  // not capped
  std::pair<TensorRecord&, Storage&> acquire(Lock& lock);
  void enter_storage(Storage& storage, Device& device, std::uint64_t bytes) noexcept;
  void book_foreign(Device& device, std::uint64_t bytes) noexcept;
  void enter(TensorRecord& record, Storage& storage, Region& region, const Entry& entry) noexcept;
  void end(TensorRecord& record, Reason reason, EndBatch& batch) noexcept;
  void end_unlinked(TensorRecord& record, Reason reason, EndBatch& batch) noexcept;
  void end_storage(Storage& storage, Reason reason, EndBatch& batch) noexcept;
  void leave_table(TensorRecord& record) noexcept;
  void leave_waiting(TensorRecord& record) noexcept;
  void notice(TensorRecord& record) noexcept;
  void take_notices() noexcept;
  TensorRecord* next_waiting(Scope scope) const noexcept;
  Region& settled(Region& region) noexcept;
  WaitingList& waiting_list_of(const TensorRecord& record) noexcept;
  Ledger& ledger(const Device& device) noexcept { return ledgers_[device.id()]; }
  ForeignShard& shard(const Device& device) noexcept { return shards_[device.id()]; }
  Books books(const Device* device) const noexcept;
  void audit_own();

  // Without it.
  [[noreturn]] void raise_stale(Handle handle, std::string_view who);
  [[noreturn]] void raise_out_of_memory(Device& device, std::uint64_t bytes, std::string_view who);
  static Found find_hold(Handle hold);
  // A new tensor, its storage with that many references.
  Born born(const TensorSpec& spec, std::uint32_t refs);
  Block allocate(const TensorSpec& spec, std::uint64_t bytes);
  Drained drain(Scope scope);
  Drained drain_batch(Scope scope, bool& more);
  void carry_out(Lock& lock, EndBatch& batch);  // releases the lock
  void note_lag(std::uint64_t first_notice, std::uint64_t tensors) noexcept;
  void end_doomed(Lock& lock, Region* doomed, Reason reason);  // releases the lock
  Region* fill(EndBatch& batch, Region* doomed, Reason reason) noexcept;
  void end_root();
  void keep_under_budget(Device& device, std::uint64_t upcoming, Drained& drained);
  void back_under_budget(const Device& device);
  bool climb(Ladder& ladder, Stake stake, std::uint64_t budget);
  std::uint64_t run_collector(Collection kind);
  bool may_collect() const;
  void warn_overrun(Device& device);
  bool ask_others(const Device& device);
  void gather_holdings(const Device* device, By by, std::map<SiteId, SiteHolding>& sites);

  SpinLock lock_;
  bool closed_ = true;
  std::uint32_t visits_ = 0;  // calls that work here outside the lock
  std::atomic<std::uint64_t> id_{0};
  ContextOptions options_;
  Host* host_ = nullptr;
  Records records_;
  std::unique_ptr<RegionTree> regions_;
  std::unique_ptr<Internals> internals_;  // storages, layouts, and the map of foreign keys
  std::array<Ledger, kMaxDevices> ledgers_;
  std::array<ForeignShard, kMaxDevices> shards_;  // this context's bytes on foreign devices
  OrphanQueue<TensorRecord> orphans_;
  WaitingList waiting_own_, waiting_foreign_;
  std::atomic<std::uint64_t> waiting_{0};  // in both lists
  std::uint64_t undead_ = 0;               // ended while in the queue; their slots come free there
  std::uint64_t peak_orphans_ = 0;
  std::uint64_t born_bytes_ = 0;
  std::atomic<std::uint32_t> overrun_devices_{0};  // a bit each
  std::atomic<std::uint32_t> foreign_devices_{0};  // those adopted from, a bit each
  std::atomic<bool> asked_{false};                 // another context needs memory
  std::atomic<std::uint64_t> first_notice_{0};     // when the oldest waiting notice came; 0: none
  std::uint64_t lag_last_ns_ = 0, lag_max_ns_ = 0;
  std::unique_ptr<Governor> governor_;
  std::atomic<std::thread::id> climbing_{};  // the thread inside a climb, if any
  std::atomic<bool> warned_{false};
};

// A region for the extent of a C++ scope; it ends with the scope, also by an exception.
class [[nodiscard]] RegionScope {
 public:
  [[nodiscard]] explicit RegionScope(Context& context, RegionId parent = 0,
                                     std::string_view label = {})
      : context_(context), id_(context.open(parent, label)) {}
  ~RegionScope() {
    try {
      context_.close(id_);
    } catch (const Error&) {  // its context has ended, and took it along
    }
  }
  RegionScope(const RegionScope&) = delete;
  RegionScope& operator=(const RegionScope&) = delete;

  RegionId id() const noexcept { return id_; }

 private:
  Context& context_;
  RegionId id_;
};

// Where the tensors that end from now on, on this thread, are said to end, while tracing is on.
void set_ending_site(SiteId site) noexcept;

}  // namespace ebb
