// Chunk: the record of a piece of address space. The chunks of a span, in address order, cover it
// without gaps; each is a hole (reserved, not committed), free, a large block, or a slab of small
// ones. Records live apart from the memory they describe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ebb/memory/heap.hpp"
#include "ebb/memory/pool.hpp"
#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

enum class ChunkState : std::uint8_t { kUnused, kHole, kFree, kLarge, kSlab };

// Whose free memory it is: a stream's, until the stream has come far enough, or everybody's.
using Owner = std::uint8_t;
inline constexpr Owner kNeutral = 0xFF;  // greater than every stream

struct alignas(128) Chunk {
  std::byte* base;
  std::size_t bytes;
  Chunk* prev;  // neighbours by address, null at the ends of the span
  Chunk* next;
  Chunk* list_prev;  // the list its state puts it on: holes, partial slabs, unused records; or tree
  Chunk* list_next;
  Ticket ticket;  // kFree with an owner: the position its stream must reach
  ChunkState state;
  Owner owner;
  std::uint8_t size_class;    // kSlab
  std::uint32_t free_blocks;  // kSlab
  Chunk* pending_prev;        // kFree with an owner: all of that owner's
  Chunk* pending_next;
  std::array<std::uint64_t, kSlabBlocks / 64> bits;  // kSlab: bit set = block is free

  std::byte* end() const { return base + bytes; }
};
static_assert(sizeof(Chunk) == 128);

// A doubly linked list through two members of Chunk.
template <Chunk* Chunk::*Prev, Chunk* Chunk::*Next>
struct ChunkListOf {
  Chunk* head = nullptr;

  bool empty() const { return head == nullptr; }
  void push(Chunk* chunk) { insert_after(chunk, nullptr); }
  void insert_after(Chunk* chunk, Chunk* before) {
    Chunk* after = before != nullptr ? before->*Next : head;
    chunk->*Prev = before;
    chunk->*Next = after;
    (before != nullptr ? before->*Next : head) = chunk;
    if (after != nullptr) after->*Prev = chunk;
  }
  void remove(Chunk* chunk) {
    (chunk->*Prev != nullptr ? chunk->*Prev->*Next : head) = chunk->*Next;
    if (chunk->*Next != nullptr) chunk->*Next->*Prev = chunk->*Prev;
  }
};
using ChunkList = ChunkListOf<&Chunk::list_prev, &Chunk::list_next>;
using PendingList = ChunkListOf<&Chunk::pending_prev, &Chunk::pending_next>;

// A block's tag: the chunk's address (its low seven bits are zero, and the top seven of a
// user-space address too), the stream, and the size class. So a small block is freed without a look
// at its chunk.
inline std::uint64_t make_tag(const Chunk* chunk, std::uint32_t size_class, StreamId stream) {
  return reinterpret_cast<std::uint64_t>(chunk) << 7 | stream << 7 | size_class;
}
inline Chunk* chunk_of(Block block) { return reinterpret_cast<Chunk*>(block.tag >> 14 << 7); }
inline std::uint32_t class_of(Block block) { return block.tag & 127; }
inline StreamId stream_of(Block block) { return (block.tag >> 7) & 127; }

}  // namespace ebb::detail
