// Pool: a device's allocator.
//
//   SystemHeap heap;
//   Pool pool(heap);
//   Block block = pool.allocate(4096);   // null data: no room; run the ladder and try again
//   ...
//   pool.free(block);
//
// Small blocks (up to 64 KB) come in size classes from slabs and pass through per-thread magazines;
// larger ones are cut from address ranges by best fit, and join again when freed. Reuse follows
// stream order: what stream A freed is A's at once, and another stream's only when A has come so
// far. src/memory/README.md has the glossary and the protocols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ebb/memory/heap.hpp"

namespace ebb {

namespace detail {
struct Chunk;
class PoolCore;
}  // namespace detail

// Memory of a device, as the Pool hands it out: 16 bytes, a value, returned in registers. Whoever
// holds it frees it once. `tag` is the pool's own note about the block (its chunk, size class and
// stream).
struct Block {
  std::byte* data = nullptr;
  std::uint64_t tag = 0;

  explicit operator bool() const noexcept { return data != nullptr; }
  friend bool operator==(const Block&, const Block&) = default;
};

// The streams, beyond its home stream, that used a block. Made by note_use, ended by free.
struct UseNote;

struct PoolOptions {
  // Where the pool's own records live; null: system memory. They are never in the managed memory.
  Heap* metadata = nullptr;
  // Bytes a thread may keep of one size class in each of its two magazines (at least four blocks).
  std::size_t magazine_bytes = std::size_t{64} << 10;
};

struct PoolStats {
  std::size_t in_use = 0;     // bytes of the blocks handed out
  std::size_t cached = 0;     // committed - in_use: free, in slabs, in magazines, or pending
  std::size_t committed = 0;  // backed by the device
  std::size_t reserved = 0;   // address space
  std::size_t peak_committed = 0;
  std::size_t pending = 0;            // freed, but waiting for a stream to get there
  std::size_t largest_free = 0;       // the largest block that fits without committing
  std::size_t free_chunks_bytes = 0;  // committed, free and not in slabs or magazines
  std::uint64_t allocations = 0;      // calls that returned a block
  std::uint64_t frees = 0;
  std::size_t metadata = 0;  // bytes of the pool's own records

  // 1 - largest / total free: 0 is one piece, near 1 is splinters.
  double fragmentation() const noexcept {
    return free_chunks_bytes == 0 ? 0.0 : 1.0 - double(largest_free) / double(free_chunks_bytes);
  }
};

class Pool {
 public:
  static constexpr std::size_t kAlignment = 64;         // of every block, at least
  static constexpr std::size_t kSmallLimit = 64 << 10;  // largest size-class block

  // `heap` (and options.metadata) must outlive the pool. Nothing is asked of them yet.
  explicit Pool(Heap& heap, PoolOptions options = {});

  // All blocks freed, or given up with the pool. Threads that used the pool may outlive it.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A block of at least `bytes` (zero counts as one) for use on `stream`. Null data: no room;
  // nothing changed that matters, and a later call may succeed.
  [[nodiscard]] Block allocate(std::size_t bytes, StreamId stream = kDefaultStream) noexcept;

  // Gives a block back, from any thread, at once and without waiting: work of the block's home
  // stream that is queued already may still use it. Allocates nothing, cannot fail. A null block is
  // ignored.
  void free(Block block) noexcept;

  // The same for a block that other streams used: waits (in the pool) for all of them. `note` ends.
  void free(Block block, UseNote* note) noexcept;

  // Must be called before work that uses the block is queued on a stream other than its home
  // stream. Makes the note when it is the first such stream. False: no room for the note, the work
  // must not be queued. Calls for one block must not overlap.
  [[nodiscard]] bool note_use(Block block, UseNote*& note, StreamId stream) noexcept;

  // What the block really holds; at least what was asked for.
  std::size_t block_bytes(Block block) const noexcept;
  static StreamId home_stream(Block block) noexcept;

  // What allocate(bytes) would hand out: the size after rounding.
  static std::size_t rounded(std::size_t bytes) noexcept;

  // Gives committed memory that nobody uses back to the heap: `bytes`, rounded up to granules,
  // where that much can be found. Returns how many bytes it gave.
  std::size_t trim(std::size_t bytes) noexcept;

  // Looks which streams have come far enough, and makes what they freed available to all. Never
  // blocks. Returns the bytes that are still pending.
  std::size_t settle() noexcept;

  // Blocks until every free so far has settled.
  void wait_pending() noexcept;

  // Returns what this thread has in its magazines.
  void flush_thread() noexcept;

  // peak_committed counts from what is committed now.
  void reset_peak() noexcept;

  // Sums over all threads. Exact when no other call is under way.
  PoolStats stats() const noexcept;

  // Walks all structures and aborts on a broken invariant. For tests.
  void check() const noexcept;

  Heap& heap() const noexcept;

 private:
  Block allocate_small(std::uint32_t size_class, StreamId stream) noexcept;
  Block allocate_large(std::size_t bytes, StreamId stream) noexcept;
  void free_large(Block block) noexcept;

  std::uint64_t key_;          // unique over the process's life, low byte free for the stream
  std::uint32_t stream_mask_;  // 0 on a synchronous heap: there all streams are one
  std::unique_ptr<detail::PoolCore> core_;
};

}  // namespace ebb
