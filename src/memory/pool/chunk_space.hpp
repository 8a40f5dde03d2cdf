// ChunkSpace: the large side of the pool. Reserved spans, cut into chunks; best fit with splitting
// and joining over what is committed, and holes that are committed when nothing fits.
//
// Every function runs under the pool's lock.
#pragma once

#include <array>

#include "memory/pool/chunk.hpp"
#include "memory/pool/free_index.hpp"
#include "memory/pool/metadata_arena.hpp"

namespace ebb::detail {

// What one stream has freed and the others cannot have yet.
struct StreamFrees {
  FreeIndex index;
  PendingList chunks;
};

class ChunkSpace {
 public:
  ChunkSpace(Heap& heap, MetadataArena& arena);
  ~ChunkSpace();
  ChunkSpace(const ChunkSpace&) = delete;
  ChunkSpace& operator=(const ChunkSpace&) = delete;

  // Must be called before a stream's first take, with records that live as long as the space.
  void add_stream(StreamId stream, StreamFrees* frees) noexcept;

  // A chunk of `bytes` for the stream out of what is committed; null where nothing fits.
  // Pre: bytes is a multiple of the quantum. Post: its state is kLarge.
  Chunk* take(std::size_t bytes, StreamId stream) noexcept;

  // The same, committing what is lacking beside a free chunk; where the heap refuses, other free
  // granules are given back to it first, as many as are lacking. Null: no room.
  Chunk* grow(std::size_t bytes, StreamId stream) noexcept;

  // A chunk comes back and joins its neighbours: those of its owner; while there is only one stream
  // all of them, for then it makes no difference, and no event is ever needed. Needs no record,
  // cannot fail.
  void give(Chunk* chunk, Owner owner, Ticket ticket) noexcept;

  // Makes everybody's what `stream` freed up to the ticket.
  void release_pending(StreamId stream, Ticket done) noexcept;

  // Decommits granules inside free chunks that are everybody's, `bytes` rounded up; returns how
  // many.
  std::size_t trim(std::size_t bytes) noexcept { return trim(bytes, nullptr, nullptr); }

  std::size_t committed() const noexcept { return committed_; }
  std::size_t peak_committed() const noexcept { return peak_committed_; }
  void reset_peak() noexcept { peak_committed_ = committed_; }
  std::size_t reserved() const noexcept { return reserved_; }
  std::size_t free_bytes() const noexcept;
  std::size_t pending_bytes() const noexcept;
  std::size_t largest_free() const noexcept;

  // Walks all spans; aborts on a broken invariant. Returns the bytes in slabs and large blocks.
  std::size_t check() const noexcept;

 private:
  struct Span {
    Span* next = nullptr;
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    Chunk* first = nullptr;
  };
  // A hole and the free chunks beside it that a request can have: what must be committed to serve
  // it.
  struct Site {
    Chunk* hole = nullptr;
    Chunk* before = nullptr;
    Chunk* after = nullptr;
    std::size_t commit = 0;
  };

  bool ensure_records(std::size_t count) noexcept;
  Chunk* take_record() noexcept;
  void drop_record(Chunk* chunk) noexcept;
  Chunk* split(Chunk* chunk, std::size_t bytes) noexcept;
  void absorb_next(Chunk* chunk) noexcept;
  void insert_free(Chunk* chunk) noexcept;
  void remove_free(Chunk* chunk) noexcept;
  Chunk* carve(Chunk* chunk, std::size_t bytes) noexcept;
  void join_and_insert(Chunk* chunk, bool all_owners) noexcept;

  static bool usable(const Chunk* chunk, StreamId stream) noexcept;
  Site site_at(Chunk* hole, std::size_t bytes, StreamId stream) const noexcept;
  Site cheapest_site(std::size_t bytes, StreamId stream) const noexcept;
  bool commit(const Site& site) noexcept;
  Chunk* fill(const Site& site) noexcept;
  bool add_span(std::size_t bytes) noexcept;

  std::size_t trim(std::size_t bytes, const Chunk* keep, const Chunk* keep_too) noexcept;
  std::size_t trim_chunk(Chunk* chunk, std::size_t bytes) noexcept;
  void make_hole(Chunk* chunk) noexcept;
  void check_span(const Span& span, std::size_t& used, std::size_t& committed) const noexcept;

  Heap& heap_;
  MetadataArena& arena_;
  const std::size_t granule_;
  const std::size_t preferred_span_;
  Span* spans_ = nullptr;
  ChunkList holes_;
  FreeIndex neutral_;
  std::array<StreamFrees*, kMaxStreams> frees_{};
  int streams_ = 0;
  ChunkList records_;  // unused
  std::size_t record_count_ = 0;
  std::size_t committed_ = 0;
  std::size_t peak_committed_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace ebb::detail
