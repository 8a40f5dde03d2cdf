// One shape for what is measured: the pool and a malloc, so that the same work runs on both.
#pragma once

#include "ebb/memory/pool.hpp"
#include "support/peers.hpp"

namespace ebb::bench {

struct PoolSubject {
  using Block = ebb::Block;
  Pool* pool;
  Block allocate(std::size_t bytes) const { return pool->allocate(bytes); }
  void free(Block block) const { pool->free(block); }
  static std::byte* data(Block block) { return block.data; }
};

struct MallocSubject {
  using Block = void*;
  Malloc peer;
  Block allocate(std::size_t bytes) const { return peer.allocate(bytes); }
  void free(Block block) const { peer.free(block); }
  static std::byte* data(Block block) { return static_cast<std::byte*>(block); }
};

}  // namespace ebb::bench
