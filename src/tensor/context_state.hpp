// What a Context keeps beside its header: the records of its storages and the map of foreign keys.
#pragma once

#include "ebb/tensor/context.hpp"
#include "tensor/key_map.hpp"
#include "tensor/storage_arena.hpp"

namespace ebb {

struct Context::Internals {
  StorageArena storages;
  KeyMap keys;
};

std::uint64_t steady_ns() noexcept;

}  // namespace ebb
