// Strided views, and how they become dense.
#include <algorithm>
#include <mutex>
#include <optional>

#include "ebb/base/error.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"
#include "memory/event_ring.hpp"
#include "tensor/block_guard.hpp"
#include "tensor/context_body.hpp"
#include "tensor/end_batch.hpp"

namespace ebb {
namespace {

// The bytes that a tensor's elements touch, from `first` up to `last`.
struct Extent {
  std::int64_t first = 0, last = 0;
};

// Of elements that start `offset` bytes into their storage. Nothing where there are none, or where
// they lie further apart than 63 bits can say.
std::optional<Extent> extent_of(std::uint64_t offset, const Shape& shape, const Strides& strides,
                                DType dtype) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  Extent extent;
  bool fits = !__builtin_add_overflow(offset, 0, &extent.first) &&
              !__builtin_add_overflow(offset, element, &extent.last);
  for (std::size_t i = 0; fits && i < shape.rank(); ++i) {
    if (shape.dims()[i] == 0) return std::nullopt;
    std::int64_t far = 0;
    fits = !__builtin_mul_overflow(shape.dims()[i] - 1, strides[i], &far) &&
           !__builtin_mul_overflow(far, element, &far);
    std::int64_t& end = far < 0 ? extent.first : extent.last;
    fits = fits && !__builtin_add_overflow(end, far, &end);
  }
  return fits ? std::optional(extent) : std::nullopt;
}

std::optional<Extent> extent_of(const TensorRecord& record) {
  const Shape shape(record.shape());
  const Strides strides =
      record.has(TensorRecord::kStrided) ? record.layout->strides : dense_strides(shape);
  return extent_of(record.byte_offset(), shape, strides, record.dtype);
}

}  // namespace

Handle ContextBody::strided_view(ContextId id, Handle base, const Operand& seen,
                                 std::uint64_t byte_offset, const Strides& strides,
                                 const TensorSpec& spec) {
  const bool dense = is_dense(spec.shape, strides);
  const bool empty = spec.shape.elements() == 0;
  Strides kept{};
  std::copy_n(strides.begin(), spec.shape.rank(), kept.begin());
  Lock lock = enter(id, "view");
  TensorRecord& of = live(lock, base, "view");
  Storage& storage = *of.storage;
  if (&storage != seen.memory.storage_) return 0;
  if (empty) return enter_view(lock, storage, 0, dense ? nullptr : &kept, spec);
  // arithmetic: where it wraps around, it is outside of the tensor or the extent says so
  const std::uint64_t offset = of.byte_offset() + byte_offset;
  const std::optional<Extent> has = extent_of(of);
  const std::optional<Extent> asked = extent_of(offset, spec.shape, kept, spec.dtype);
  if (!has || !asked || asked->first < has->first || asked->last > has->last ||
      offset % size_of(spec.dtype) != 0) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[view] {} {} from byte {} on was asked for, outside the tensor or between its elements",
           name_of(spec.dtype), spec.shape.to_string(), byte_offset);
  }
  return enter_view(lock, storage, offset, dense ? nullptr : &kept, spec);
}

Handle ContextBody::share(ContextId id, Handle handle, RegionId region) {
  Lock lock = enter(id, "view");
  const TensorRecord& of = live(lock, handle, "view");
  if (of.storage->foreign()) {
    refuse(lock, ErrorKind::kInvalidArgument,
           "[view] the tensor is another runtime's: adopt its views");
  }
  const bool strided = of.has(TensorRecord::kStrided);
  return enter_view(lock, *of.storage, of.byte_offset(), strided ? &of.layout->strides : nullptr,
                    {.dtype = of.dtype, .shape = Shape(of.shape()), .region = region});
}

// A tensor over a storage that has some; without strides a dense one.
Handle ContextBody::enter_view(Lock& lock, Storage& storage, std::uint64_t offset,
                               const Strides* strides, const TensorSpec& spec) {
  Region& region = open_to(lock, spec.region, "view");
  StridedLayout* layout = strides == nullptr ? nullptr : &layouts_.acquire(storage.device);
  TensorRecord* record = nullptr;
  try {
    record = &handles_.acquire(storage.device);
  } catch (...) {
    if (layout != nullptr) layouts_.release(*layout);
    throw;
  }
  enter(*record, storage, region,
        {.dtype = spec.dtype,
         .dims = spec.shape.dims(),
         .site = spec.site,
         .tag = offset,
         .flags = layout == nullptr ? std::uint8_t{0} : std::uint8_t{TensorRecord::kStrided}});
  if (layout != nullptr) {
    layout->offset = offset;
    layout->strides = *strides;
    layout->uses = 0;
    record->layout = layout;
  }
  return record->name();
}

// A layout changes once at most, so the second look finds it dense.
TensorRecord& ContextBody::live_and_dense(Lock& lock, ContextId id, Handle handle,
                                          std::string_view who) {
  TensorRecord& record = live(lock, handle, who);
  if (!record.has(TensorRecord::kStrided)) [[likely]]
    return record;
  lock.unlock();
  {
    Operand operand;
    resolve(id, {&handle, 1}, {&operand, 1}, who);
    make_dense(id, handle, operand);
  }
  lock = enter(id, who);
  return live(lock, handle, who);
}

// Pre: the record is dense. The reference that the operand had is let go after the lock.
void ContextBody::take(Operand& operand, const TensorRecord& record, StorageRef& old) noexcept {
  Storage& storage = *record.storage;
  storage.refs.fetch_add(1, std::memory_order_relaxed);
  old = std::move(operand.memory);
  operand.memory = StorageRef(storage);
  operand.data = storage.block.data + record.tag;
  operand.dense = true;
}

// Somebody else made the tensor dense since the operand was resolved: theirs is taken.
bool ContextBody::take_if_rebound(Lock&, Handle handle, Operand& operand,
                                  StorageRef& old) noexcept {
  const TensorRecord* record = handles_.find(handle);
  if (record == nullptr || record->storage == operand.memory.storage_) return false;
  take(operand, *record, old);
  return true;
}

void ContextBody::rebind(TensorRecord& record, Storage& storage, EndBatch& batch) noexcept {
  Storage& old = *record.storage;
  layouts_.release(*record.layout);
  record.flags &= static_cast<std::uint8_t>(~TensorRecord::kStrided);
  record.tag = 0;
  record.storage = &storage;
  ++storage.tensors;
  TraceEvent ended = storage_event(old, kStorageEnded);
  const bool last = --old.tensors == 0;
  if (last) ended.flags |= end_storage(old, Reason::kDisposed, batch);
  if (!trace::on()) return;
  TraceEvent rebound = storage_event(storage, kTensorRebound);
  rebound.id = record.name();
  trace::record(storage_event(storage, kStorageBorn));
  trace::record(rebound);
  if (last) trace::record(ended);
}

// What the operand holds keeps the body from serving another context meanwhile.
void ContextBody::make_dense(ContextId id, Handle handle, Operand& operand) {
  if (operand.dense) return;
  StorageRef old;  // let go after the lock
  {
    Lock lock(lock_);
    if (take_if_rebound(lock, handle, operand, old)) return;
  }
  Device& device = operand.memory.device();
  if (handles_.orphans().noticed()) drain(id, Scope::kOwn);
  const TensorSpec spec{.device = &device, .stream = operand.memory.home_stream()};
  if (device.link() != nullptr && device.link()->captures(spec.stream)) {
    raise(ErrorKind::kWrongState,
          "[copy] stream {} of device {} captures: a view of a part is read before or after",
          spec.stream, device.name());
  }
  BlockGuard block(device.pool(),
                   allocate(id, spec, bytes_of(operand.shape, size_of(operand.dtype))));
  if (DeviceLink* link = device.link()) {
    pack_on(*link, spec.stream, operand, block.data());
  } else {
    pack(operand, block.data());
  }
  OneEnd batch;
  {
    Lock lock(lock_);
    if (take_if_rebound(lock, handle, operand, old)) return;
    Storage& storage = storages_.acquire(&device);
    storage.block = block.take();
    storage.note = nullptr;
    storage.key = 0;
    enter_storage(storage, device, device.pool().block_bytes(storage.block));
    if (TensorRecord* record = handles_.find(handle)) {
      rebind(*record, storage, batch);
      take(operand, *record, old);
    } else {  // it has ended: nobody's but the operand's
      ledger(device).storage_ended(Reason::kDisposed, storage.bytes, true);
      take_pressure(storage.bytes);
      if (trace::on()) {
        trace::record(storage_event(storage, kStorageBorn));
        TraceEvent ended = storage_event(storage, kStorageEnded);
        ended.flags |= kWithStorage | kStillHeld;
        trace::record(ended);
      }
      old = std::move(operand.memory);
      operand.memory = StorageRef(storage);
      operand.data = storage.block.data;
      operand.dense = true;
    }
  }
  batch.carry_out(nullptr);
}

}  // namespace ebb
