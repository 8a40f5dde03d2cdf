// A context's life, and its tensors from birth to end.
//
// The lock order is: none. lock_ is held for a few dozen instructions and nothing is called under
// it that takes another lock, except the slot space's when a table grows. Blocks are taken before
// the lock and given back after it, hosts are called without it.
#include "ebb/tensor/context.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>

#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "tensor/block_guard.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/context_state.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

thread_local SiteId ending_site = 0;

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

std::uint64_t steady_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void set_ending_site(SiteId site) noexcept { ending_site = site; }

void Host::warn(std::string_view message) {
  std::fprintf(stderr, "ebb: %.*s\n", static_cast<int>(message.size()), message.data());
}

// ---- life

Context::Context()
    : records_(*this),
      internals_(std::make_unique<Internals>()),
      governor_(std::make_unique<Governor>()) {}

ContextPtr Context::create(ContextOptions options) {
  return ContextPtr(&ContextRegistry::instance().create(std::move(options)));
}

Context* Context::find(std::uint64_t id) noexcept { return ContextRegistry::instance().find(id); }

void ContextCloser::operator()(Context* context) const noexcept { context->close(); }

void Context::reopen(ContextOptions options, std::uint64_t id) {
  auto regions = std::make_unique<RegionTree>();
  std::lock_guard guard(lock_);
  regions_ = std::move(regions);
  governor_->restart({.share = options.collect_share, .minor = options.minor});
  options_ = std::move(options);
  host_ = options_.host;
  born_bytes_ = 0;
  lag_last_ns_ = lag_max_ns_ = peak_orphans_ = 0;
  for (ForeignShard& each : shards_) each.last_birth.store(0, std::memory_order_relaxed);
  overrun_devices_.store(0, std::memory_order_relaxed);
  first_notice_.store(0, std::memory_order_relaxed);
  asked_.store(false, std::memory_order_relaxed);
  warned_.store(false, std::memory_order_relaxed);
  id_.store(id, std::memory_order_relaxed);
  closed_ = false;
}

bool Context::close() {
  Lock lock(lock_);
  if (Visit::mine_in(*this) != 0) {
    lock.unlock();
    raise(ErrorKind::kWrongState, "[close] a context cannot end inside its host's callback");
  }
  if (closed_) return false;
  closed_ = true;  // nothing is born here from now on
  ContextRegistry::instance().forget(id());
  Visit visit(*this, lock);
  await_visitors(lock);
  while (Region* child = regions_->root().first_child) {
    end_doomed(lock, regions_->begin_close(*child), Reason::kShutdown);
    lock.lock();
  }
  lock.unlock();
  end_root();
  await_notices();
  return true;
}

void Context::await_visitors(Lock& lock) noexcept {
  while (visits_ != 1) {  // close()'s own
    lock.unlock();
    std::this_thread::yield();
    lock.lock();
  }
}

// A notice that was under way when its tensor ended still has the slot; it arrives within
// instructions. A drain that came after the first wait may still be telling the host.
void Context::await_notices() noexcept {
  while (true) {
    {
      std::lock_guard guard(lock_);
      take_notices();
      if (undead_ == 0 && visits_ == 1) {
        host_ = nullptr;
        return;
      }
    }
    std::this_thread::yield();
  }
}

// Holds are let go after the context has ended, and any of them may be the last.
void Context::retire_if_empty() noexcept {
  Lock lock(lock_);
  const auto empty = [&] {
    return closed_ && visits_ == 0 && id() != 0 && records_.live() == 0 &&
           internals_->storages.count() == 0;
  };
  while (empty()) {
    take_notices();
    if (undead_ == 0) {
      id_.store(0, std::memory_order_relaxed);  // whoever comes second finds it retired
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
[[gnu::flatten]] Handle Context::make(const TensorSpec& spec) { return born(spec, 1).handle; }

[[gnu::flatten]] MadeTensor Context::make_held(const TensorSpec& spec) {
  const Born made = born(spec, 2);
  return {made.handle, StorageRef(*made.storage), made.storage->block.data};
}

inline Context::Born Context::born(const TensorSpec& spec, std::uint32_t refs) {
  Device& device = checked(spec.device, false, "make");
  const std::uint64_t bytes = checked_bytes(spec, "make");
  if (spec.stream >= kMaxStreams) {
    raise(ErrorKind::kInvalidArgument, "[make] stream {} was given, below {} is allowed",
          spec.stream, kMaxStreams);
  }
  if (orphans_.noticed()) drain(Scope::kOwn);
  BlockGuard block(device.pool(), allocate(spec, bytes));
  std::unique_lock lock(lock_);
  Region& region = open_to(lock, spec.region, "make");
  auto [record, storage] = acquire(lock);
  storage.block = block.take();
  storage.note = nullptr;
  storage.key = 0;
  enter_storage(storage, device, device.pool().block_bytes(storage.block));
  storage.refs.store(refs, std::memory_order_relaxed);
  enter(record, storage, region,
        {.dtype = spec.dtype, .dims = spec.shape.dims(), .site = spec.site, .tag = 0, .flags = 0});
  return {record.name(), &storage};
}

Handle Context::view(Handle base, std::uint64_t byte_offset, const TensorSpec& spec) {
  const std::uint64_t bytes = checked_bytes(spec, "view");
  std::unique_lock lock(lock_);
  TensorRecord& of = live_and_dense(lock, base, "view");
  Storage& storage = *of.storage;
  const std::uint64_t offset = of.tag + byte_offset;
  if (storage.block.data == nullptr) {
    lock.unlock();
    raise(ErrorKind::kInvalidArgument, "[view] the tensor is another runtime's: adopt its views");
  }
  if (offset < byte_offset || offset > storage.bytes || bytes > storage.bytes - offset) {
    const std::uint64_t held = storage.bytes;
    lock.unlock();
    raise(ErrorKind::kInvalidArgument,
          "[view] {} bytes from {} on were asked for, the storage has {}", bytes, offset, held);
  }
  return enter_view(lock, storage, offset, nullptr, spec);
}

[[gnu::flatten]] Handle Context::adopt(const ForeignSpec& spec) {
  Device& device = checked(spec.device, true, "adopt");
  std::unique_lock lock(lock_);
  Region& region = open_to(lock, spec.region, "adopt");
  const Entry entry{
      .dtype = spec.dtype,
      .dims = spec.dims,
      .site = spec.site,
      .tag = spec.tag,
      .flags = spec.watched ? std::uint8_t{0} : std::uint8_t{TensorRecord::kUnwatched}};
  if (Storage* shared = spec.key == 0 ? nullptr : internals_->keys.find(device.id(), spec.key)) {
    TensorRecord& record = records_.acquire();
    enter(record, *shared, region, entry);
    return record.name();
  }
  if (spec.key != 0) internals_->keys.reserve_one();
  auto [record, storage] = acquire(lock);
  storage.block = Block{};
  storage.note = nullptr;
  storage.key = spec.key;
  enter_storage(storage, device, spec.bytes);
  if (spec.key != 0) internals_->keys.insert(storage);
  book_foreign(device, spec.bytes);
  shard(device).last_birth.store(spec.bytes, std::memory_order_relaxed);
  enter(record, storage, region, entry);
  return record.name();
}

void Context::book_foreign(Device& device, std::uint64_t bytes) noexcept {
  ForeignShard& booked = shard(device);
  if (!booked.joined) [[unlikely]] {
    device.join(booked);
    foreign_devices_.fetch_or(1u << device.id(), std::memory_order_relaxed);
  }
  device.foreign_born(booked, bytes);
}

std::pair<TensorRecord&, Storage&> Context::acquire(Lock&) {
  TensorRecord& record = records_.acquire();
  try {
    return {record, internals_->storages.acquire()};
  } catch (...) {
    record.flags = 0;
    leave_table(record);
    throw;
  }
}

void Context::enter_storage(Storage& storage, Device& device, std::uint64_t bytes) noexcept {
  storage.refs.store(1, std::memory_order_relaxed);
  storage.tensors = storage.unwatched = 0;
  storage.device = &device;
  storage.context = this;
  storage.bytes = bytes;
  ledger(device).storage_born(bytes);
  born_bytes_ += bytes;
}

void Context::enter(TensorRecord& record, Storage& storage, Region& region,
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
  if (trace::on()) [[unlikely]] {
    trace::record({.id = record.name(),
                   .bytes = storage.bytes,
                   .site = entry.site,
                   .kind = kTensorBorn,
                   .detail = static_cast<std::uint16_t>(entry.dtype)});
  }
}

void Context::rebook(Handle handle, Device* device, std::uint64_t bytes) {
  std::unique_lock lock(lock_);
  Storage& storage = *live(lock, handle, "rebook").storage;
  Device& from = *storage.device;
  Device& to = device == nullptr ? from : *device;
  if (!from.foreign() || !to.foreign()) {
    lock.unlock();
    raise(ErrorKind::kInvalidArgument, "[rebook] only another runtime's tensors are rebooked");
  }
  if (&to != &from && storage.key != 0) {
    if (internals_->keys.find(to.id(), storage.key) != nullptr) {
      lock.unlock();
      raise(ErrorKind::kInvalidArgument, "[rebook] key {} is in use on {}", storage.key, to.name());
    }
    internals_->keys.reserve_one();
    internals_->keys.erase(storage);
    storage.device = &to;
    internals_->keys.insert(storage);
  }
  storage.device = &to;
  ledger(from).storage_resized(storage.bytes, bytes);
  if (&to != &from) ledger(from).moved_to(ledger(to), storage.tensors, storage.unwatched, bytes);
  from.foreign_ended(shard(from), storage.bytes);
  book_foreign(to, bytes);
  if (bytes > storage.bytes) born_bytes_ += bytes - storage.bytes;
  storage.bytes = bytes;
}

// ---- end

[[gnu::flatten]] bool Context::dispose(Handle handle) {
  OneEnd batch;
  {
    std::unique_lock lock(lock_);
    TensorRecord* record = records_.find(handle);
    if (record == nullptr || record->has(TensorRecord::kHold)) {
      if (record == nullptr && records_.has_ended(handle)) return false;
      lock.unlock();
      raise_stale(handle, "dispose");
    }
    end(*record, Reason::kDisposed, batch);
  }
  batch.carry_out(nullptr);
  return true;
}

void Context::end(TensorRecord& record, Reason reason, EndBatch& batch) noexcept {
  RegionTree::unlink(record);
  end_unlinked(record, reason, batch);
}

void Context::end_unlinked(TensorRecord& record, Reason reason, EndBatch& batch) noexcept {
  Storage& storage = *record.storage;
  const bool watched = !record.has(TensorRecord::kUnwatched);
  ledger(*storage.device).tensor_ended(reason, watched);
  batch.count_tensor();
  if (trace::on()) [[unlikely]] {
    trace::record({.id = record.name(),
                   .bytes = storage.bytes,
                   .site = ending_site,
                   .kind = kTensorEnded,
                   .detail = static_cast<std::uint16_t>(reason)});
  }
  if (storage.block.data == nullptr && reason != Reason::kDisposed) {
    batch.add_ended({.handle = record.name(),
                     .tag = record.tag,
                     .key = storage.key,
                     .device = storage.device->id(),
                     .reason = reason,
                     .last = storage.tensors == 1});
  }
  if (record.has(TensorRecord::kStrided)) [[unlikely]]
    internals_->layouts.release(*record.layout);
  storage.unwatched -= watched ? 0 : 1;
  if (--storage.tensors == 0) end_storage(storage, reason, batch);
  leave_table(record);
}

// Its last tensor has ended. New references need a tensor and the lock, so a count of one is final.
void Context::end_storage(Storage& storage, Reason reason, EndBatch& batch) noexcept {
  if (storage.key != 0) internals_->keys.erase(storage);
  const bool held = storage.refs.load(std::memory_order_acquire) != 1 &&
                    storage.refs.fetch_sub(1, std::memory_order_acq_rel) != 1;
  ledger(*storage.device).storage_ended(reason, storage.bytes, held);
  if (held) return;
  batch.count_bytes(storage.bytes);
  if (storage.block.data != nullptr) {
    batch.add_freed(storage);
  } else {
    storage.device->foreign_ended(shard(*storage.device), storage.bytes);
  }
  internals_->storages.release(storage);
}

// Makes the name stale. A slot that is on its way through the orphan queue comes free there.
void Context::leave_table(TensorRecord& record) noexcept {
  const bool waiting = record.has(TensorRecord::kWaiting);
  if (waiting) leave_waiting(record);
  if (records_.release(record)) return;
  if (waiting || record.has(TensorRecord::kDequeued)) {
    records_.recycle(record);
  } else {
    ++undead_;
  }
}

}  // namespace ebb
