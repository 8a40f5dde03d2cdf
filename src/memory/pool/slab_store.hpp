// Slabs of one stream: chunks cut into blocks of one class, with a bitmap of those that are free.
// Runs under the pool's lock.
#pragma once

#include <array>

#include "memory/pool/chunk.hpp"
#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

class SlabStore {
 public:
  // Up to `count` blocks from the slabs there are.
  std::size_t take(std::uint32_t size_class, StreamId stream, Block* blocks,
                   std::size_t count) noexcept;

  // Makes a slab of a fresh chunk.
  void add(Chunk* chunk, std::uint32_t size_class) noexcept;

  // A block comes back. Returns its slab where that is now empty, and no longer the store's.
  [[nodiscard]] Chunk* put(Block block) noexcept;

  // Bytes and number of the blocks that are out.
  std::size_t out_bytes() const noexcept;
  std::size_t out_blocks() const noexcept;

 private:
  std::array<ChunkList, kClasses> partial_;
  std::array<std::size_t, kClasses> out_{};
};

}  // namespace ebb::detail
