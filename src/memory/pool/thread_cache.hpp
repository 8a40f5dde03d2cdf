// What a thread keeps for itself, per pool and stream: magazines of small blocks, and the large
// block it freed last.
//
// Protocol. A magazine is an array of blocks. Each size class has a loaded one and a spare;
// allocate pops from the loaded, free pushes to it, whichever thread the block came from, and
// neither needs a lock. When both are empty (or full), the thread changes a whole magazine for a
// full (or empty) one at the depot, under the pool's lock. Only the owning thread changes its
// cache; other threads read counts (hence the relaxed atomics) and may take the large block, which
// is why that is exchanged.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "memory/pool/chunk.hpp"
#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

// Aligned so that two threads' magazines share no cache line, nor a pair of them.
struct alignas(128) Magazine {
  Magazine* next = nullptr;             // in the depot
  std::atomic<std::uint32_t> count{0};  // while not loaded
  std::array<Block, kMagazineRounds> rounds;
};

template <typename T>
class OwnerWritten {  // one thread writes, any reads
 public:
  T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }

 private:
  std::atomic<T> value_{};
};

struct Shelf {
  OwnerWritten<Block*> top;   // one past the last block of the loaded magazine
  OwnerWritten<Block*> base;  // null: there is no loaded magazine
  Block* limit = nullptr;
  OwnerWritten<Magazine*> loaded;
  OwnerWritten<Magazine*> spare;
};

// The large block that was freed last. Only the owner puts one in, so that needs no exchange;
// anyone may take it out, so that does.
struct LargeSlot {
  std::atomic<Chunk*> chunk{nullptr};
  std::size_t bytes = 0;  // of the block that was put in last; owner only
  Block block;            // likewise

  Chunk* take() noexcept {
    if (chunk.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return chunk.exchange(nullptr, std::memory_order_acquire);
  }
};

struct alignas(128) ThreadCache {
  std::array<Shelf, kClasses> shelves;
  alignas(64) LargeSlot large;
  OwnerWritten<std::uint64_t> allocations;
  StreamId stream = 0;
  std::uint64_t recalls_seen = 0;     // PoolCore::recalls_
  ThreadCache* next_spare = nullptr;  // caches without a thread
  ThreadCache* next = nullptr;        // all caches of the pool
};

// A thread's caches. Small and flat, so that it can live in static thread-local storage; the pair
// used last is kept apart. Keys are never used twice, so an entry of a pool that is gone is only
// dead weight.
struct ThreadSlot {
  struct Entry {
    std::uint64_t key = 0;
    ThreadCache* cache = nullptr;
  };
  static constexpr std::size_t kEntries = 10;

  std::uint64_t key = 0;
  ThreadCache* cache = nullptr;
  std::array<Entry, kEntries> entries{};
  std::uint32_t next_victim = 0;
};
static_assert(sizeof(ThreadSlot) <= 200);

extern constinit thread_local ThreadSlot t_slot;

}  // namespace ebb::detail
