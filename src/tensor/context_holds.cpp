// References on memory without a tensor: StorageRef, and holds that hosts keep by name.
#include <cstring>
#include <mutex>

#include "ebb/base/error.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"
#include "memory/event_ring.hpp"
#include "tensor/context_body.hpp"
#include "tensor/end_batch.hpp"

namespace ebb {

StorageRef ContextBody::hold(ContextId id, Handle handle) {
  Lock lock = enter(id, "hold");
  Storage& storage = *live(lock, handle, "hold").storage;
  storage.refs.fetch_add(1, std::memory_order_relaxed);
  return StorageRef(storage);
}

bool ContextBody::is_alone(ContextId id, Handle handle) {
  Lock lock = enter(id, "is_alone");
  const Storage& storage = *live(lock, handle, "is_alone").storage;
  return storage.tensors == 1 && storage.refs.load(std::memory_order_acquire) == 1;
}

bool ContextBody::resolve(ContextId id, std::span<const Handle> handles,
                          std::span<Operand> operands, std::string_view who) {
  bool strided = false;
  Lock lock = enter(id, who);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == 0) continue;
    const TensorRecord& record = live(lock, handles[i], who);
    Storage& storage = *record.storage;
    if (storage.foreign()) {
      const std::string& device = storage.device->name();
      refuse(lock, ErrorKind::kInvalidArgument,
             "[{}] input {} is on device {}, another runtime's: its own operations are needed", who,
             i, device);
    }
    storage.refs.fetch_add(1, std::memory_order_relaxed);
    operands[i].memory = StorageRef(storage);
    operands[i].dtype = record.dtype;
    operands[i].shape = Shape(record.dims, record.rank);
    if (record.has(TensorRecord::kStrided)) [[unlikely]] {
      strided = true;
      operands[i].dense = false;
      operands[i].uses = ++record.layout->uses;
      operands[i].strides = record.layout->strides;
      operands[i].data = storage.block.data + record.layout->offset;
    } else {
      operands[i].data = storage.block.data + record.tag;
    }
  }
  return strided;
}

void read_operand(const Operand& operand, std::span<std::byte> bytes) {
  if (bytes.empty()) return;
  if (DeviceLink* link = operand.memory.device().link()) {
    link->read(operand.memory.home_stream(), bytes, operand.data);
  } else {
    pack(operand, bytes.data());
  }
}

void write_operand(const Operand& operand, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  if (DeviceLink* link = operand.memory.device().link()) {
    link->write(operand.memory.home_stream(), operand.data, bytes);
  } else {
    std::memcpy(operand.data, bytes.data(), bytes.size());
  }
}

Handle ContextBody::hold_by_name(ContextId id, Handle handle) {
  Lock lock = enter(id, "hold");
  const TensorRecord& of = live_and_dense(lock, id, handle, "hold");
  Storage& storage = *of.storage;
  const bool foreign = storage.foreign();
  const std::uint64_t offset = foreign ? 0 : of.tag;
  const std::uint64_t bytes = foreign ? 0 : bytes_of(Shape(of.shape()), size_of(of.dtype));
  TensorRecord& record = handles_.acquire(storage.device);
  storage.refs.fetch_add(1, std::memory_order_relaxed);
  record.storage = &storage;
  record.flags = TensorRecord::kHold;
  record.dtype = DType::kUint8;  // what is held are bytes, those of the tensor
  record.rank = 1;
  record.dims[0] = static_cast<std::int64_t>(bytes);
  record.tag = offset;
  record.region = nullptr;
  return record.name();
}

// A hold that has been released is known as such also when its context has gone since.
ContextBody::Found ContextBody::find_hold(Handle hold) {
  if (HandleTable* table = HandleTable::of(hold)) {
    ContextBody& context = table->context();
    std::unique_lock lock(context.lock_);
    TensorRecord* record = table->find(hold);
    if (record != nullptr && record->has(TensorRecord::kHold)) {
      return {&context, record, std::move(lock)};
    }
  }
  if (HandleTable::has_ended(hold)) return {nullptr, nullptr, {}};
  raise(ErrorKind::kStaleHandle, "[hold] {:#x} names no hold", hold);
}

std::span<std::byte> ContextBody::held_data(Handle hold) {
  Found found = find_hold(hold);
  if (found.record == nullptr) {
    raise(ErrorKind::kStaleHandle, "[hold] {:#x} has been released", hold);
  }
  const TensorRecord& held = *found.record;
  if (!held.storage->block) return {};
  return {held.storage->block.data + held.tag, static_cast<std::size_t>(held.dims[0])};
}

bool ContextBody::release_by_name(Handle hold) {
  Found found = find_hold(hold);
  if (found.record == nullptr) return false;
  StorageRef last(*found.record->storage);  // lets go after the lock
  found.context->handles_.end(*found.record);
  found.lock.unlock();
  last.reset();
  found.context->retire_if_empty();
  return true;
}

void StorageRef::last_released(Storage& storage) noexcept {
  ContextBody& context = *storage.context;
  ContextBody::OneEnd batch;
  {
    std::lock_guard guard(context.lock_);
    context.ledger(*storage.device).hold_ended(storage.bytes);
    if (trace::on()) [[unlikely]]
      trace::record(context.storage_event(storage, kHoldEnded));
    context.let_go(storage, batch);
  }
  batch.carry_out(nullptr);
  context.retire_if_empty();
}

void StorageRef::note_use(StreamId stream) const {
  if (storage_->foreign()) return;
  std::lock_guard guard(storage_->context->lock_);
  if (!storage_->device->pool().note_use(storage_->block, storage_->note, stream)) {
    throw OutOfMemory("[note_use] no memory to note which streams use a block");
  }
}

}  // namespace ebb
