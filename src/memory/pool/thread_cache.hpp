// What a thread keeps for itself, per pool and stream: magazines of small blocks, and the large
// block it freed last.
//
// Protocol. A magazine is an array of blocks. Each size class has a loaded one and a spare;
// allocate pops from the loaded, free pushes to it, whichever thread the block came from, and
// neither needs a lock. When both are empty (or full), the thread changes a whole magazine for a
// full (or empty) one at the depot, under the pool's lock.
//
// Taking what another thread keeps. A thread may be idle for ever, so what it has cached must be
// within reach of the others when memory is short, and of a trim. A pop or push moves `top` first,
// and looks afterwards whether it may: a pop at `floor`, a push at `ceiling`. These two are the
// gates that the taker closes:
//
//   owner, pop    t = top; top = t - 1; [quiet barrier]; t > floor    ? the block is t[-1]
//   owner, push   t = top; *t = block; top = t + 1; [quiet barrier]; t < ceiling ? done
//   taker         closes the gates: floor = all ones, ceiling = null; [process barrier]; reads top
//
// After the barrier a pop or push that found its gate open has moved `top`, and the taker sees it;
// every other one finds the gate closed. So the blocks below `top` are the taker's, who copies them
// and writes into `taken` how many they were, and the owner's next call goes to the slow path. There
// it puts `top` back, and under the pool's lock compares: `taken` one less than where `top` is means
// that the taker came while a block was being popped, which therefore is the owner's; one more, that
// it came while a block was being pushed, which therefore is free already. Then the owner opens the
// gates again. Only the owner ever writes `top`; the taker only reads the rounds, and those below
// `top` were written before it (release, acquire).
//
// The gates are closed under the pool's lock and the cache's guard, and opened under the pool's
// lock. The owner takes the guard where it changes the loaded magazine for the spare without the
// pool's lock. Where the system has no process barrier nothing is taken: the gates are closed all
// the same, and the owner returns what it has when it next comes by.
//
// The large block that was freed last is exchanged instead; anyone may take it out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/process_barrier.hpp"
#include "ebb/base/spin_lock.hpp"
#include "memory/pool/chunk.hpp"
#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

// Processors match a load to the stores still under way by the low twelve bits of their addresses.
// A magazine whose top lay at the same offset in its page as its shelf made a pair three times as
// dear, for the classes that happened to lie so. So each begins a page, and caches keep clear of
// the offsets that magazines use. Two threads' magazines share no cache line either.
inline constexpr std::size_t kAliasing = 4096;

struct alignas(kAliasing) Magazine {
  Magazine* next = nullptr;                       // in the depot
  std::atomic<std::uint32_t> count{0};            // while not loaded
  std::array<Block, kMagazineRounds + 1> rounds;  // a push writes before it looks
};

template <typename T>
class OwnerWritten {  // one thread writes, any reads
 public:
  T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  T acquire() const noexcept { return value_.load(std::memory_order_acquire); }
  void set(T value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void release(T value) noexcept { value_.store(value, std::memory_order_release); }

 private:
  std::atomic<T> value_{};
};

// Without a loaded magazine, bottom, top and both gates are the cache's scratch round: full and
// empty at once.
struct Shelf {
  OwnerWritten<Block*> top;              // one past the last block of the loaded magazine
  std::atomic<Block*> floor{nullptr};    // the gate of pops: the bottom, or all ones
  std::atomic<Block*> ceiling{nullptr};  // the gate of pushes: the end, or null
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

// kClosed: the gates are closed, and what is in the magazines is still there. kTaken: it is not.
enum class CacheState : std::uint8_t { kOpen, kClosed, kTaken };

struct alignas(kAliasing) ThreadCache {
  ThreadCache() noexcept {
    for (Shelf& shelf : shelves) {
      shelf.top.set(&scratch);
      shelf.floor.store(&scratch, std::memory_order_relaxed);
      shelf.ceiling.store(&scratch, std::memory_order_relaxed);
    }
  }
  Block* bottom(const Shelf& shelf) noexcept {
    Magazine* loaded = shelf.loaded.get();
    return loaded != nullptr ? loaded->rounds.data() : &scratch;
  }
  // How many blocks are in the loaded magazine. Another thread's: or nonsense.
  std::ptrdiff_t count(const Shelf& shelf) noexcept { return shelf.top.acquire() - bottom(shelf); }

  std::array<std::byte, 1152> apart;  // the offsets of a magazine's rounds
  std::array<Shelf, kClasses> shelves;
  alignas(64) LargeSlot large;
  OwnerWritten<std::uint64_t> allocations;
  StreamId stream = 0;
  CacheState state = CacheState::kOpen;  // changed under the pool's lock and the guard
  SpinLock guard;
  std::array<std::int8_t, kClasses> taken{};  // kTaken: top - bottom of each shelf at that moment
  ThreadCache* next_spare = nullptr;          // caches without a thread
  ThreadCache* next = nullptr;                // all caches of the pool
  Block scratch;                              // where pushes write that have no magazine
};

static_assert(offsetof(Magazine, rounds) + sizeof(Magazine::rounds) <= sizeof(ThreadCache::apart));
static_assert(sizeof(Magazine) == kAliasing && sizeof(ThreadCache) == kAliasing);

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

// The owner's side of the protocol. Null: there is no block, or the gate is closed.
inline const Block* pop(ThreadCache& cache, std::uint32_t size_class) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  Block* const top = shelf.top.get();
  shelf.top.release(top - 1);
  quiet_barrier();
  if (top > shelf.floor.load(std::memory_order_relaxed)) [[likely]] {
    cache.allocations.set(cache.allocations.get() + 1);
    return top - 1;
  }
  shelf.top.release(top);
  return nullptr;
}

// False: there is no room, or the gate is closed.
inline bool push(ThreadCache& cache, std::uint32_t size_class, Block block) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  Block* const top = shelf.top.get();
  *top = block;
  shelf.top.release(top + 1);
  quiet_barrier();
  if (top < shelf.ceiling.load(std::memory_order_relaxed)) [[likely]]
    return true;
  shelf.top.release(top);
  return false;
}

}  // namespace ebb::detail
