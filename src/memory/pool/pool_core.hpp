// PoolCore: everything behind the pool's fast paths. One lock guards it all: threads come here once
// for a magazine, not once for a block.
#pragma once

#include <array>
#include <mutex>

#include "ebb/memory/pool.hpp"
#include "ebb/memory/system_heap.hpp"
#include "memory/pool/chunk_space.hpp"
#include "memory/pool/depot.hpp"
#include "memory/pool/metadata_arena.hpp"
#include "memory/pool/slab_store.hpp"
#include "memory/pool/stream_order.hpp"
#include "memory/pool/thread_cache.hpp"

namespace ebb {

// Made when a block is first used away from home; when the block is freed it holds the block, and
// the position that each stream must reach.
struct UseNote {
  UseNote* next = nullptr;
  Block block;
  std::uint64_t streams = 0;
  std::array<Ticket, kMaxStreams> tickets{};
};

namespace detail {

class PoolCore {
 public:
  PoolCore(Heap& heap, const PoolOptions& options, std::uint64_t key);
  ~PoolCore();
  PoolCore(const PoolCore&) = delete;
  PoolCore& operator=(const PoolCore&) = delete;

  // The slow paths. `cache` is the thread's for this stream, null where it has none.
  Block allocate_small(ThreadCache* cache, std::uint32_t size_class, StreamId stream) noexcept;
  Block allocate_large(ThreadCache* cache, std::size_t bytes, StreamId stream) noexcept;
  void free_small(ThreadCache* cache, Block block) noexcept;
  void free_large(Chunk* chunk, StreamId stream) noexcept;

  bool note_use(Block block, UseNote*& note, StreamId stream) noexcept;
  void free_noted(Block block, UseNote* note) noexcept;

  // A cache for a thread that begins, where `grow` is false without allocating; null where there is
  // none.
  ThreadCache* adopt_cache(StreamId stream, bool grow) noexcept;
  // Takes back the cache of a thread that ends, and what is in it.
  void retire_cache(ThreadCache* cache) noexcept;

  std::size_t trim(std::size_t bytes) noexcept;
  void wait_pending() noexcept;
  void flush(ThreadCache* cache) noexcept;
  std::size_t settle() noexcept;
  void reset_peak() noexcept;
  PoolStats stats() const noexcept;
  void check() const noexcept;

  // Everything that another thread could be in the middle of.
  void lock_all() noexcept;
  void unlock_all() noexcept;
  void forget_waiters() noexcept;  // in the child of a fork

  Heap& heap() const noexcept { return heap_; }
  std::uint64_t key() const noexcept { return key_; }

  PoolCore* registry_next = nullptr;

 private:
  struct StreamState {
    StreamFrees frees;
    SlabStore slabs;
    Depot depot;
  };
  struct Held {  // blocks that are out of the slabs, but in nobody's hands
    std::size_t bytes = 0;
    std::size_t blocks = 0;
  };

  // pool_core.cpp
  // All that one stream freed is its own already.
  bool settling_may_help() const noexcept { return stream_count_ > 1 || deferred_ != nullptr; }
  bool ensure_stream(StreamId stream) noexcept;
  Chunk* acquire(ThreadCache* cache, std::size_t bytes, StreamId stream) noexcept;
  void give_chunk(Chunk* chunk, StreamId stream) noexcept;
  void put_block(Block block) noexcept;
  bool release_idle() noexcept;
  bool release_depot(StreamId stream) noexcept;
  bool release_slots() noexcept;
  std::size_t pending() const noexcept;
  void settle_locked() noexcept;
  void settle_idle() noexcept;
  bool settle_what_threads_keep() noexcept;
  std::size_t trim_in_steps(std::size_t bytes) noexcept;
  void settle_deferred() noexcept;
  bool all_reached(const UseNote& note) const noexcept;
  Held held() const noexcept;

  // magazines.cpp
  Block allocate_one(ThreadCache* cache, std::uint32_t size_class, StreamId stream) noexcept;
  bool swap_without_lock(ThreadCache& cache, std::uint32_t size_class, bool full) noexcept;
  bool reload(ThreadCache& cache, std::uint32_t size_class) noexcept;
  bool fill_from_slabs(ThreadCache& cache, std::uint32_t size_class) noexcept;
  bool unload(ThreadCache& cache, std::uint32_t size_class) noexcept;
  void load(Shelf& shelf, std::uint32_t size_class, Magazine* magazine) noexcept;
  bool swap(Shelf& shelf, std::uint32_t size_class) noexcept;
  void empty_magazine(Magazine& magazine) noexcept;
  bool drain(ThreadCache* cache) noexcept;

  // taking.cpp
  bool take_from_threads(const ThreadCache* own) noexcept;
  static void close(ThreadCache& cache) noexcept;
  void take(ThreadCache& cache) noexcept;
  int reopen(ThreadCache& cache, std::uint32_t size_class) noexcept;
  void reopen(ThreadCache* cache) noexcept;

  Magazine* take_empty() noexcept;
  void drop_empty(Magazine* magazine) noexcept;
  void stock_empties() noexcept;

  Heap& heap_;
  const std::uint64_t key_;
  const std::size_t capacity_;
  SystemHeap own_metadata_;
  std::array<std::uint32_t, kClasses> rounds_;  // a magazine's, by class

  mutable std::mutex mutex_;  // guards all below
  MetadataArena arena_;
  ChunkSpace space_;
  StreamOrder order_;
  std::array<StreamState*, kMaxStreams> streams_{};
  int stream_count_ = 0;
  Magazine* empties_ = nullptr;
  std::uint32_t empty_count_ = 0;
  ThreadCache* caches_ = nullptr;
  ThreadCache* spare_caches_ = nullptr;
  UseNote* spare_notes_ = nullptr;
  UseNote* deferred_ = nullptr;
  Held deferred_held_;
  Held large_out_;
  std::uint64_t allocations_ = 0;  // those that no cache counts
};

// thread_slot.cpp. The calling thread's cache for a key, which becomes the hot one; with `grow` a
// new one where it has none and there is memory. Null: go without.
ThreadCache* find_cache(PoolCore& core, std::uint64_t key, StreamId stream, bool grow) noexcept;
void register_pool(PoolCore& core) noexcept;
void unregister_pool(PoolCore& core) noexcept;

}  // namespace detail
}  // namespace ebb
