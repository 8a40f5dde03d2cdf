// Strided views, and how they become dense.
#include <algorithm>
#include <mutex>

#include "ebb/base/error.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"
#include "tensor/block_guard.hpp"
#include "tensor/context_state.hpp"
#include "tensor/end_batch.hpp"

namespace ebb {
namespace {

// Bytes before and after the first element that the elements reach to.
struct Reach {
  std::int64_t before = 0, after = 0;
};

Reach reach_of(const Shape& shape, const Strides& strides, std::int64_t element) {
  Reach reach{.after = element};
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const std::int64_t far = (shape.dims()[i] - 1) * strides[i] * element;
    (far < 0 ? reach.before : reach.after) += far;
  }
  return reach;
}

}  // namespace

Handle Context::strided_view(Handle base, const Operand& seen, std::uint64_t byte_offset,
                             const Strides& strides, const TensorSpec& spec) {
  const Reach reach = reach_of(spec.shape, strides, static_cast<std::int64_t>(size_of(spec.dtype)));
  const bool dense = is_dense(spec.shape, strides);
  Strides kept{};
  std::copy_n(strides.begin(), spec.shape.rank(), kept.begin());
  std::unique_lock lock(lock_);
  TensorRecord& of = live(lock, base, "view");
  Storage& storage = *of.storage;
  if (&storage != seen.memory.storage_) return 0;
  const auto first = static_cast<std::int64_t>(of.byte_offset() + byte_offset);
  const auto held = static_cast<std::int64_t>(storage.bytes);
  if (spec.shape.elements() != 0 && (first + reach.before < 0 || first + reach.after > held)) {
    lock.unlock();
    raise(ErrorKind::kInvalidArgument, "[view] bytes {} to {} were asked for, the storage has {}",
          first + reach.before, first + reach.after, held);
  }
  const std::uint64_t offset = spec.shape.elements() == 0 ? 0 : static_cast<std::uint64_t>(first);
  return enter_view(lock, storage, offset, dense ? nullptr : &kept, spec);
}

void Context::make_readable(Handle handle, Operand& operand) {
  if (operand && operand.memory.device().link() != nullptr) make_dense(handle, operand);
}

Handle Context::share(Handle handle, RegionId region) {
  std::unique_lock lock(lock_);
  const TensorRecord& of = live(lock, handle, "view");
  if (of.storage->block.data == nullptr) {
    lock.unlock();
    raise(ErrorKind::kInvalidArgument, "[view] the tensor is another runtime's: adopt its views");
  }
  const bool strided = of.has(TensorRecord::kStrided);
  return enter_view(lock, *of.storage, of.byte_offset(), strided ? &of.layout->strides : nullptr,
                    {.dtype = of.dtype, .shape = Shape(of.shape()), .region = region});
}

// A tensor over a storage that has some; without strides a dense one.
Handle Context::enter_view(Lock& lock, Storage& storage, std::uint64_t offset,
                           const Strides* strides, const TensorSpec& spec) {
  Region& region = open_to(lock, spec.region, "view");
  StridedLayout* layout = strides == nullptr ? nullptr : &internals_->layouts.acquire();
  TensorRecord* record = nullptr;
  try {
    record = &records_.acquire();
  } catch (...) {
    if (layout != nullptr) internals_->layouts.release(*layout);
    throw;
  }
  enter(*record, storage, region,
        {.dtype = spec.dtype,
         .dims = spec.shape.dims(),
         .site = spec.site,
         .tag = offset,
         .flags = layout == nullptr ? std::uint8_t{0} : std::uint8_t{TensorRecord::kStrided}});
  if (layout != nullptr) {
    *layout = {.offset = offset, .strides = *strides};
    record->layout = layout;
  }
  return record->name();
}

// A layout changes once at most, so the second look finds it dense.
TensorRecord& Context::live_and_dense(Lock& lock, Handle handle, std::string_view who) {
  TensorRecord& record = live(lock, handle, who);
  if (!record.has(TensorRecord::kStrided)) [[likely]]
    return record;
  lock.unlock();
  {
    Operand operand;
    resolve({&handle, 1}, {&operand, 1}, who);
    make_dense(handle, operand);
  }
  lock.lock();
  return live(lock, handle, who);
}

// Pre: the record is dense. The reference that the operand had is let go after the lock.
void Context::take(Operand& operand, const TensorRecord& record, StorageRef& old) noexcept {
  Storage& storage = *record.storage;
  storage.refs.fetch_add(1, std::memory_order_relaxed);
  old = std::move(operand.memory);
  operand.memory = StorageRef(storage);
  operand.data = storage.block.data + record.tag;
  operand.dense = true;
}

// Somebody else made the tensor dense since the operand was resolved: theirs is taken.
bool Context::take_if_rebound(Lock&, Handle handle, Operand& operand, StorageRef& old) noexcept {
  const TensorRecord* record = records_.find(handle);
  if (record == nullptr || record->storage == operand.memory.storage_) return false;
  take(operand, *record, old);
  return true;
}

void Context::rebind(TensorRecord& record, Storage& storage, EndBatch& batch) noexcept {
  Storage& old = *record.storage;
  internals_->layouts.release(*record.layout);
  record.flags &= static_cast<std::uint8_t>(~TensorRecord::kStrided);
  record.tag = 0;
  record.storage = &storage;
  ++storage.tensors;
  if (--old.tensors == 0) end_storage(old, Reason::kDisposed, batch);
}

void Context::make_dense(Handle handle, Operand& operand) {
  if (operand.dense) return;
  StorageRef old;  // let go after the lock
  {
    Lock lock(lock_);
    if (take_if_rebound(lock, handle, operand, old)) return;
  }
  Device& device = operand.memory.device();
  if (orphans_.noticed()) drain(Scope::kOwn);
  const TensorSpec spec{.device = &device, .stream = operand.memory.home_stream()};
  if (device.link() != nullptr && device.link()->captures(spec.stream)) {
    raise(ErrorKind::kWrongState,
          "[copy] stream {} of device {} captures: a view of a part is read before or after",
          spec.stream, device.name());
  }
  BlockGuard block(device.pool(), allocate(spec, bytes_of(operand.shape, size_of(operand.dtype))));
  if (DeviceLink* link = device.link()) {
    pack_on(*link, spec.stream, operand, block.data());
  } else {
    pack(operand, block.data());
  }
  OneEnd batch;
  {
    Lock lock(lock_);
    if (take_if_rebound(lock, handle, operand, old)) return;
    Storage& storage = internals_->storages.acquire();
    storage.block = block.take();
    storage.note = nullptr;
    storage.key = 0;
    enter_storage(storage, device, device.pool().block_bytes(storage.block));
    if (TensorRecord* record = records_.find(handle)) {
      rebind(*record, storage, batch);
      take(operand, *record, old);
    } else {  // it has ended: nobody's but the operand's
      ledger(device).storage_ended(Reason::kDisposed, storage.bytes, true);
      old = std::move(operand.memory);
      operand.memory = StorageRef(storage);
      operand.data = storage.block.data;
      operand.dense = true;
    }
  }
  batch.carry_out(nullptr);
}

}  // namespace ebb
