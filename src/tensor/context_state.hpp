// What a Context keeps beside its header: the records of its storages and of its strided tensors,
// and the map of foreign keys.
#pragma once

#include "ebb/tensor/context.hpp"
#include "tensor/key_map.hpp"
#include "tensor/record_arena.hpp"

namespace ebb {

struct Context::Internals {
  RecordArena<Storage, 256> storages;
  RecordArena<StridedLayout, 64> layouts;
  KeyMap keys;
};

std::uint64_t steady_ns() noexcept;

inline TensorRecord& Context::live(Lock& lock, Handle handle, std::string_view who) {
  TensorRecord* record = records_.find(handle);
  if (record != nullptr && !record->has(TensorRecord::kHold)) [[likely]]
    return *record;
  lock.unlock();
  raise_stale(handle, who);
}

}  // namespace ebb
