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

}  // namespace ebb
