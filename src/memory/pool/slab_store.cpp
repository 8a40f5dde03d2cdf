#include "memory/pool/slab_store.hpp"

#include <bit>

#include "ebb/base/check.hpp"

namespace ebb::detail {
namespace {

std::size_t take_from(Chunk* slab, std::uint32_t size_class, StreamId stream, Block* blocks,
                      std::size_t count) noexcept {
  const std::uint64_t tag = make_tag(slab, size_class, stream);
  std::size_t taken = 0;
  for (std::size_t word = 0; word < slab->bits.size() && taken < count; ++word) {
    std::uint64_t bits = slab->bits[word];
    for (; bits != 0 && taken < count; bits &= bits - 1) {
      const std::size_t index = word * 64 + std::size_t(std::countr_zero(bits));
      blocks[taken++] = {slab->base + index * kClassBytes[size_class], tag};
    }
    slab->bits[word] = bits;
  }
  slab->free_blocks -= std::uint32_t(taken);
  return taken;
}

}  // namespace

std::size_t SlabStore::take(std::uint32_t size_class, StreamId stream, Block* blocks,
                            std::size_t count) noexcept {
  std::size_t taken = 0;
  ChunkList& partial = partial_[size_class];
  while (taken < count && !partial.empty()) {
    Chunk* slab = partial.head;
    taken += take_from(slab, size_class, stream, blocks + taken, count - taken);
    if (slab->free_blocks == 0) partial.remove(slab);
  }
  out_[size_class] += taken;
  return taken;
}

void SlabStore::add(Chunk* chunk, std::uint32_t size_class) noexcept {
  const std::uint32_t blocks = kSlabShapes[size_class].blocks;
  chunk->state = ChunkState::kSlab;
  chunk->size_class = std::uint8_t(size_class);
  chunk->free_blocks = blocks;
  for (std::size_t word = 0; word < chunk->bits.size(); ++word) {
    const std::uint32_t here = blocks > word * 64 ? blocks - std::uint32_t(word * 64) : 0;
    chunk->bits[word] = here >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
  }
  partial_[size_class].push(chunk);
}

Chunk* SlabStore::put(Block block) noexcept {
  Chunk* slab = chunk_of(block);
  const std::uint32_t size_class = class_of(block);
  EBB_CHECK(slab->state == ChunkState::kSlab && slab->size_class == size_class);
  const SlabShape& shape = kSlabShapes[size_class];
  const std::size_t steps = std::size_t(block.data - slab->base) / kStep;
  const std::size_t index = steps * shape.reciprocal >> 32;
  const std::uint64_t bit = std::uint64_t{1} << index % 64;
  EBB_CHECK((slab->bits[index / 64] & bit) == 0);  // else it was freed twice
  slab->bits[index / 64] |= bit;
  --out_[size_class];
  if (slab->free_blocks++ == 0) partial_[size_class].push(slab);
  if (slab->free_blocks < shape.blocks) return nullptr;
  partial_[size_class].remove(slab);
  return slab;
}

std::size_t SlabStore::out_bytes() const noexcept {
  std::size_t bytes = 0;
  for (std::size_t c = 0; c < kClasses; ++c) bytes += out_[c] * kClassBytes[c];
  return bytes;
}

std::size_t SlabStore::out_blocks() const noexcept {
  std::size_t blocks = 0;
  for (const std::size_t out : out_) blocks += out;
  return blocks;
}

}  // namespace ebb::detail
