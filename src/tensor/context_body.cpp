// A context's life, and its tensors from birth to end.
//
// The lock order is: none. lock_ is held for a few dozen instructions and nothing is called under
// it that takes another lock, except the slot space's when a table grows. Blocks are taken before
// the lock and given back after it, hosts are called without it.

#include "tensor/context_body.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "ebb/base/error.hpp"
#include "memory/event_ring.hpp"
#include "tensor/block_guard.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

thread_local SiteId ending_site = 0;

constexpr bool kByHost = false;  // the host ended these itself: it is not told of them
constexpr int kMostNames = 256;  // looked up in one go under the lock

Device& checked(Device* device, bool foreign, std::string_view who) {
  if (device == nullptr) raise(ErrorKind::kInvalidArgument, "[{}] no such device", who);
  if (device->foreign() != foreign) {
    raise(ErrorKind::kInvalidArgument, "[{}] device {} is {}", who, device->name(),
          foreign ? "Ebb's own: its tensors are made, not adopted"
                  : "another runtime's: its tensors are adopted, not made");
  }
  return *device;
}

std::uint64_t checked_bytes(const TensorSpec& spec, std::string_view who) {
  if (size_of(spec.dtype) == 0) {
    raise(ErrorKind::kInvalidArgument,
          "[{}] dtype {} has no fixed size; another runtime must hold it", who,
          name_of(spec.dtype));
  }
  return bytes_of(spec.shape, size_of(spec.dtype));
}

}  // namespace

void set_ending_site(SiteId site) noexcept { ending_site = site; }

void Host::warn(std::string_view message) {
  std::fprintf(stderr, "ebb: %.*s\n", static_cast<int>(message.size()), message.data());
}

// ---- life

ContextBody::ContextBody() : governor_(std::make_unique<Governor>()) {}

std::string ContextBody::name(ContextId id) {
  const Lock lock = enter(id, "name");
  return options_.name;
}

void ContextBody::reopen(ContextOptions options, ContextId id) {
  auto regions = std::make_unique<RegionTree>();
  std::lock_guard guard(lock_);
  lock_.forget_streaks();
  regions_ = std::move(regions);
  governor_->restart({.share = options.collect_share,
                      .minor = options.minor,
                      .minor_step = options.minor_step,
                      .major_step = options.major_step});
  options_ = std::move(options);
  host_ = options_.own_host != nullptr ? options_.own_host.get() : options_.host;
  host_thread_.store(options_.bound_to_thread ? std::this_thread::get_id() : std::thread::id(),
                     std::memory_order_relaxed);
  born_bytes_ = 0;
  handles_.orphans().restart();
  for (auto& each : last_births_) each.store(0, std::memory_order_relaxed);
  pressure_.store(0, std::memory_order_relaxed);
  births_at_look_.store(0, std::memory_order_relaxed);
  warned_devices_.store(0, std::memory_order_relaxed);
  asked_.store(Asked::kNothing, std::memory_order_relaxed);
  retired_ = false;
  id_ = id;
  open_id_.store(id, std::memory_order_relaxed);
}

bool ContextBody::close(ContextId id) {
  Lock lock(lock_);
  if (!serves(id)) return false;
  if (Visit::mine_in(*this) != 0) {
    refuse(lock, ErrorKind::kWrongState, "[close] a context cannot end inside its host's callback");
  }
  open_id_.store(0, std::memory_order_relaxed);  // whoever comes from now on is refused
  Visit visit(*this, lock);
  await_visitors(lock);
  while (Region* child = regions_->root().first_child) {
    end_region(lock, *child, Reason::kShutdown);
    lock.lock();
  }
  lock.unlock();
  end_root();
  lock.lock();
  take_notices(lock);
  give_credits_back();
  host_ = nullptr;
  const std::unique_ptr<Host> host = std::move(options_.own_host);  // goes after the lock
  lock.unlock();
  return true;
}

void ContextBody::await_visitors(Lock& lock) noexcept {
  while (visits_ != 1) {  // close()'s own
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

// Under the lock, on the only thread. Visits and a climb of others will not end.
void ContextBody::go_on_alone() noexcept {
  lock_.forget_waiters();
  visits_ = Visit::mine_in(*this);
  if (climbing_.load() != std::this_thread::get_id()) climbing_.store(std::thread::id());
  drains_done_.store(drains_begun_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  handles_.go_on_alone();
}

// Holds are let go after the context has ended, and any of them may be the last. A notice that was under
// way when its tensor ended still has the slot; it arrives within instructions.
void ContextBody::retire_if_empty() noexcept {
  Lock lock(lock_);
  const auto empty = [&] {
    return closed() && visits_ == 0 && !retired_ && handles_.live() == 0 && storages_.count() == 0;
  };
  while (empty()) {
    take_notices(lock);
    if (empty() && !handles_.has_notices()) {
      retired_ = true;
      lock.unlock();
      return ContextRegistry::instance().recycle(*this);
    }
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

// ---- birth

// These are what a host does for every tensor; a call for each step of them is half their
// cost.
[[gnu::flatten]] Handle ContextBody::make(ContextId id, const TensorSpec& spec) {
  return born(id, spec, 1).handle;
}

[[gnu::flatten]] MadeTensor ContextBody::make_held(ContextId id, const TensorSpec& spec) {
  const Born made = born(id, spec, 2);
  return {made.handle, StorageRef(*made.storage), made.storage->block.data};
}

inline ContextBody::Born ContextBody::born(ContextId id, const TensorSpec& spec,
                                           std::uint32_t refs) {
  Device& device = checked(spec.device, false, "make");
  const std::uint64_t bytes = checked_bytes(spec, "make");
  if (spec.stream >= kMaxStreams) {
    raise(ErrorKind::kInvalidArgument, "[make] stream {} was given, below {} is allowed",
          spec.stream, kMaxStreams);
  }
  if (handles_.orphans().noticed()) drain(id, Scope::kOwn);
  BlockGuard block(device.pool(), allocate(id, spec, bytes));
  Lock lock = enter(id, "make");
  Region& region = open_to(lock, spec.region, "make");
  auto [record, storage] = acquire(lock, device);
  storage.block = block.take();
  storage.note = nullptr;
  storage.key = 0;
  enter_storage(storage, device, device.pool().block_bytes(storage.block));
  storage.refs.store(refs, std::memory_order_relaxed);
  enter(record, storage, region,
        {.dtype = spec.dtype, .dims = spec.shape.dims(), .site = spec.site, .tag = 0, .flags = 0});
  return {record.name(), &storage};
}

Handle ContextBody::view(ContextId id, Handle base, std::uint64_t byte_offset,
                         const TensorSpec& spec) {
  const std::uint64_t bytes = checked_bytes(spec, "view");
  Lock lock = enter(id, "view");
  TensorRecord& of = live_and_dense(lock, id, base, "view");
  Storage& storage = *of.storage;
  if (storage.foreign()) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[view] the tensor is another runtime's: adopt its views");
  }
  const std::uint64_t has = bytes_of(Shape(of.shape()), size_of(of.dtype));
  if (byte_offset > has || bytes > has - byte_offset) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[view] {} bytes from {} on were asked for, the tensor has {}", bytes, byte_offset, has);
  }
  const std::uint64_t offset = of.tag + byte_offset;  // arithmetic: within the storage
  if (offset % size_of(spec.dtype) != 0) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[view] {} from byte {} on was asked for, a multiple of {} is needed",
           name_of(spec.dtype), offset, size_of(spec.dtype));
  }
  return enter_view(lock, storage, offset, nullptr, spec);
}

[[gnu::flatten]] Handle ContextBody::adopt(ContextId id, const ForeignSpec& spec) {
  Device& device = checked(spec.device, true, "adopt");
  Lock lock = enter(id, "adopt");
  Region& region = open_to(lock, spec.region, "adopt");
  const Entry entry{
      .dtype = spec.dtype,
      .dims = spec.dims,
      .site = spec.site,
      .tag = spec.tag,
      .flags = spec.watched ? std::uint8_t{0} : std::uint8_t{TensorRecord::kUnwatched}};
  if (Storage* shared = spec.key == 0 ? nullptr : keys_.find(device.index(), spec.key)) {
    TensorRecord& record = handles_.acquire(&device);
    enter(record, *shared, region, entry);
    return record.name();
  }
  if (spec.key != 0) keys_.reserve_one();
  auto [record, storage] = acquire(lock, device);
  storage.block = Block{};
  storage.note = nullptr;
  storage.key = spec.key;
  enter_storage(storage, device, spec.bytes);
  if (spec.key != 0) keys_.insert(storage);
  book_foreign(device, spec.bytes);
  last_birth(device).store(spec.bytes, std::memory_order_relaxed);
  enter(record, storage, region, entry);
  return record.name();
}

void ContextBody::book_foreign(Device& device, std::uint64_t bytes) noexcept {
  const std::uint32_t bit = 1u << device.index();
  if ((foreign_devices_.load(std::memory_order_relaxed) & bit) == 0) [[unlikely]]
    foreign_devices_.fetch_or(bit, std::memory_order_relaxed);
  credits_[device.index()].born(device, bytes);
}

void ContextBody::give_credits_back() noexcept {
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    if (credits_[i].bytes() == 0) continue;
    if (Device* const device = Device::at(i)) credits_[i].give_back(*device);
  }
}

// A context that has ended keeps nothing.
void ContextBody::unbook_foreign(Device& device, std::uint64_t bytes) noexcept {
  ForeignCredit& credit = credits_[device.index()];
  credit.ended(device, bytes);
  if (closed()) [[unlikely]]
    credit.give_back(device);
}

std::pair<TensorRecord&, Storage&> ContextBody::acquire(Lock&, Device& device) {
  TensorRecord& record = handles_.acquire(&device);
  try {
    return {record, storages_.acquire(&device)};
  } catch (...) {
    record.flags = 0;
    handles_.end(record);
    throw;
  }
}

void ContextBody::enter_storage(Storage& storage, Device& device, std::uint64_t bytes) noexcept {
  storage.refs.store(1, std::memory_order_relaxed);
  storage.tensors = storage.unwatched = 0;
  storage.device = &device;
  storage.context = this;
  storage.bytes = bytes;
  ledger(device).storage_born(bytes);
  born_bytes_ += bytes;
  add_pressure(bytes);
}

// What an event says of a storage: its block's address is its name there, or, where the memory is
// another runtime's, its record's.
TraceEvent ContextBody::storage_event(const Storage& storage, EventKind kind) const noexcept {
  const void* name = storage.foreign() ? static_cast<const void*>(&storage)
                                       : static_cast<const void*>(storage.block.data);
  return {.bytes = storage.bytes,
          .storage = reinterpret_cast<std::uint64_t>(name),
          .kind = kind,
          .device = static_cast<std::uint8_t>(storage.device->index())};
}

void ContextBody::enter(TensorRecord& record, Storage& storage, Region& region,
                        const Entry& entry) noexcept {
  const bool watched = (entry.flags & TensorRecord::kUnwatched) == 0;
  record.storage = &storage;
  record.site = entry.site;
  record.dtype = entry.dtype;
  record.rank = static_cast<std::uint8_t>(std::min<std::size_t>(entry.dims.size(), 255));
  record.flags = entry.flags;
  record.tag = entry.tag;
  record.return_to = 0;
  const std::size_t kept = std::min(entry.dims.size(), kMaxRank);
  for (std::size_t i = 0; i < kMaxRank; ++i) record.dims[i] = i < kept ? entry.dims[i] : 0;
  ++storage.tensors;
  storage.unwatched += watched ? 0 : 1;
  RegionTree::link(region, record);
  ledger(*storage.device).tensor_born(watched);
  add_pressure(options_.name_bytes);
  if (trace::on()) [[unlikely]] {
    TraceEvent event = storage_event(storage, kTensorBorn);
    event.id = record.name();
    event.site = entry.site;
    event.detail = static_cast<std::uint8_t>(entry.dtype);
    event.flags |= storage.tensors == 1 ? kWithStorage : 0;
    trace::record(event);
  }
}

void ContextBody::rebook(ContextId id, Handle handle, Device* device, std::uint64_t bytes) {
  Lock lock = enter(id, "rebook");
  Storage& storage = *live(lock, handle, "rebook").storage;
  Device& from = *storage.device;
  Device& to = device == nullptr ? from : *device;
  if (!from.foreign() || !to.foreign()) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[rebook] only another runtime's tensors are rebooked");
  }
  if (&to != &from && storage.key != 0) {
    if (keys_.find(to.index(), storage.key) != nullptr) {
      refuse(lock, ErrorKind::kInvalidArgument, "[rebook] key {} is in use on {}", storage.key,
             to.name());
    }
    keys_.reserve_one();
    keys_.erase(storage);
    storage.device = &to;
    keys_.insert(storage);
  }
  storage.device = &to;
  ledger(from).storage_resized(storage.bytes, bytes);
  if (&to != &from) ledger(from).moved_to(ledger(to), storage.tensors, storage.unwatched, bytes);
  unbook_foreign(from, storage.bytes);
  book_foreign(to, bytes);
  if (bytes > storage.bytes) born_bytes_ += bytes - storage.bytes;
  add_pressure(bytes - storage.bytes);
  storage.bytes = bytes;
  if (trace::on()) [[unlikely]]
    trace::record(storage_event(storage, kStorageRebooked));
}

// ---- end

[[gnu::flatten]] bool ContextBody::dispose(ContextId id, Handle handle) {
  OneEnd batch(kByHost);
  {
    Lock lock = enter(id, "dispose");
    TensorRecord* record = handles_.find_tensor(handle);
    if (record == nullptr) {
      if (handles_.has_ended(handle)) return false;
      raise_stale(lock, handle, "dispose");
    }
    end(*record, Reason::kDisposed, batch);
  }
  batch.carry_out(nullptr);
  return true;
}

void ContextBody::discard(ContextId id, Handle handle) noexcept {
  OneEnd batch(kByHost);
  {
    const Lock lock(lock_);
    TensorRecord* const record = serves(id) ? handles_.find_tensor(handle) : nullptr;
    if (record != nullptr) end(*record, Reason::kDisposed, batch);
  }
  batch.carry_out(nullptr);
}

std::uint64_t ContextBody::end_all(ContextId id, std::span<const Handle> handles, Reason reason) {
  std::uint64_t ended = 0;
  for (auto next = handles.begin(); next != handles.end();) {
    ManyEnds batch(kByHost);
    {
      const Lock lock = enter(id, "end_all");
      // Names that have ended count too: they cost a look each.
      for (int taken = 0; taken < kMostNames && !batch.full() && next != handles.end(); ++taken) {
        TensorRecord* record = handles_.find_tensor(*next++);
        if (record != nullptr) end(*record, reason, batch);
      }
    }
    batch.carry_out(nullptr);
    ended += batch.drained().tensors;
  }
  return ended;
}

void ContextBody::end(TensorRecord& record, Reason reason, EndBatch& batch) noexcept {
  RegionTree::unlink(record);
  end_unlinked(record, reason, batch);
}

void ContextBody::end_unlinked(TensorRecord& record, Reason reason, EndBatch& batch) noexcept {
  Storage& storage = *record.storage;
  const bool watched = !record.has(TensorRecord::kUnwatched);
  ledger(*storage.device).tensor_ended(reason, watched);
  take_pressure(options_.name_bytes);
  batch.count_tensor();
  if (storage.foreign() && batch.for_host()) {
    batch.add_ended({.handle = record.name(),
                     .tag = record.tag,
                     .key = storage.key,
                     .device = storage.device->id(),
                     .reason = reason,
                     .last = storage.tensors == 1});
  }
  if (record.has(TensorRecord::kStrided)) [[unlikely]]
    layouts_.release(*record.layout);
  storage.unwatched -= watched ? 0 : 1;
  if (trace::on()) [[unlikely]] {
    TraceEvent event = storage_event(storage, kTensorEnded);
    event.id = record.name();
    event.site = ending_site;
    event.detail = static_cast<std::uint8_t>(reason);
    if (--storage.tensors == 0) event.flags |= end_storage(storage, reason, batch);
    trace::record(event);
  } else if (--storage.tensors == 0) {
    end_storage(storage, reason, batch);
  }
  handles_.end(record);
}

// Its last tensor has ended. New references need a tensor and the lock, so a count of one is final.
// Returns what an event says of it.
std::uint8_t ContextBody::end_storage(Storage& storage, Reason reason, EndBatch& batch) noexcept {
  if (storage.key != 0) keys_.erase(storage);
  const bool held = storage.refs.load(std::memory_order_acquire) != 1 &&
                    storage.refs.fetch_sub(1, std::memory_order_acq_rel) != 1;
  ledger(*storage.device).storage_ended(reason, storage.bytes, held);
  take_pressure(storage.bytes);
  if (held) return kWithStorage | kStillHeld;
  batch.count_bytes(storage.bytes);
  let_go(storage, batch);
  return kWithStorage;
}

// Nothing refers to it any more.
void ContextBody::let_go(Storage& storage, EndBatch& batch) noexcept {
  if (storage.foreign()) {
    unbook_foreign(*storage.device, storage.bytes);
  } else {
    batch.add_freed(storage);
  }
  storages_.release(storage);
}

}  // namespace ebb
