// The exchange of magazines between threads and the depot; thread_cache.hpp has the protocol.
#include <algorithm>

#include "ebb/base/check.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb::detail {
namespace {

std::uint32_t spare_count(const Shelf& shelf) noexcept {
  const Magazine* spare = shelf.spare.get();
  return spare != nullptr ? spare->count.load(std::memory_order_relaxed) : 0;
}

}  // namespace

Block PoolCore::allocate_small(ThreadCache* cache, std::uint32_t size_class,
                               StreamId stream) noexcept {
  if (cache == nullptr) {
    const std::lock_guard lock(mutex_);
    return allocate_one(nullptr, size_class, stream);
  }
  if (const Block* popped = pop(*cache, size_class)) return *popped;
  if (swap_without_lock(*cache, size_class, true))
    if (const Block* popped = pop(*cache, size_class)) return *popped;
  const std::lock_guard lock(mutex_);
  if (!ensure_stream(stream)) return {};
  const Block* last = cache->shelves[size_class].top.get() - 1;
  if (reopen(*cache, size_class) == -1) {  // the pop that found its gate closed was in time
    cache->allocations.set(cache->allocations.get() + 1);
    return *last;
  }
  stock_empties();
  if (!reload(*cache, size_class)) return {};
  return *pop(*cache, size_class);
}

// Changes the loaded magazine for the spare where that is full, or has no block at all.
bool PoolCore::swap_without_lock(ThreadCache& cache, std::uint32_t size_class, bool full) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  if (shelf.spare.get() == nullptr || (spare_count(shelf) > 0) != full) return false;
  const std::lock_guard guard(cache.guard);
  return cache.state == CacheState::kOpen && (spare_count(shelf) > 0) == full &&
         swap(shelf, size_class);
}

// For a thread without a cache.
Block PoolCore::allocate_one(ThreadCache* cache, std::uint32_t size_class,
                             StreamId stream) noexcept {
  if (!ensure_stream(stream)) return {};
  SlabStore& slabs = streams_[stream]->slabs;
  Block block;
  if (slabs.take(size_class, stream, &block, 1) == 0) {
    Chunk* chunk = acquire(cache, kSlabShapes[size_class].bytes, stream);
    if (chunk == nullptr) return {};
    slabs.add(chunk, size_class);
    slabs.take(size_class, stream, &block, 1);
  }
  ++allocations_;
  return block;
}

// Gets blocks into the loaded magazine. Pre: it and the spare are empty or missing.
bool PoolCore::reload(ThreadCache& cache, std::uint32_t size_class) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  Magazine* full = streams_[cache.stream]->depot.pop(size_class);
  if (full == nullptr) return fill_from_slabs(cache, size_class);
  Magazine* empty = shelf.loaded.get();
  if (empty != nullptr) {
    empty->count.store(0, std::memory_order_relaxed);
    shelf.spare.get() == nullptr ? shelf.spare.set(empty) : drop_empty(empty);
  }
  load(shelf, size_class, full);
  return true;
}

// Fills up from slabs that are there; a new slab is made only for the block that is asked for.
bool PoolCore::fill_from_slabs(ThreadCache& cache, std::uint32_t size_class) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  if (shelf.loaded.get() == nullptr) {
    Magazine* magazine = take_empty();
    if (magazine == nullptr) return false;
    load(shelf, size_class, magazine);
  }
  SlabStore& slabs = streams_[cache.stream]->slabs;
  Block* base = cache.bottom(shelf);
  std::size_t taken = slabs.take(size_class, cache.stream, base, rounds_[size_class]);
  if (taken == 0) {
    Chunk* chunk = acquire(&cache, kSlabShapes[size_class].bytes, cache.stream);
    if (chunk == nullptr) return false;
    slabs.add(chunk, size_class);
    taken = slabs.take(size_class, cache.stream, base, rounds_[size_class]);
  }
  shelf.top.release(base + taken);
  return true;
}

void PoolCore::free_small(ThreadCache* cache, Block block) noexcept {
  const std::uint32_t size_class = class_of(block);
  if (cache != nullptr) {
    if (push(*cache, size_class, block)) return;
    if (swap_without_lock(*cache, size_class, false) && push(*cache, size_class, block)) return;
  }
  const std::lock_guard lock(mutex_);
  if (cache == nullptr) return put_block(block);
  if (reopen(*cache, size_class) == 1) return;  // whoever closed the gate has taken it too
  if (push(*cache, size_class, block)) return;
  if (!unload(*cache, size_class)) return put_block(block);
  push(*cache, size_class, block);
}

// Makes room in the loaded magazine. Pre: it and the spare are full or missing. False: there is
// none, and the block goes back to its slab by itself; freeing must not need memory.
bool PoolCore::unload(ThreadCache& cache, std::uint32_t size_class) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  Depot& depot = streams_[cache.stream]->depot;
  Magazine* spare = shelf.spare.get();
  if (spare != nullptr && (empties_ == nullptr || !depot.has_room(size_class))) {
    empty_magazine(*spare);
    return swap(shelf, size_class);
  }
  Magazine* empty = empties_;
  if (empty == nullptr) return false;
  empties_ = empty->next;
  --empty_count_;
  if (shelf.loaded.get() == nullptr) {
    load(shelf, size_class, empty);
    return true;
  }
  if (spare != nullptr) depot.push(size_class, spare);
  shelf.spare.set(empty);
  return swap(shelf, size_class);
}

void PoolCore::load(Shelf& shelf, std::uint32_t size_class, Magazine* magazine) noexcept {
  Block* base = magazine->rounds.data();
  shelf.loaded.set(magazine);
  shelf.top.release(base + magazine->count.load(std::memory_order_relaxed));
  shelf.floor.store(base, std::memory_order_relaxed);
  shelf.ceiling.store(base + rounds_[size_class], std::memory_order_relaxed);
}

// Changes the loaded magazine for the spare. Pre: the gates are open; under the pool's lock or the
// cache's guard.
bool PoolCore::swap(Shelf& shelf, std::uint32_t size_class) noexcept {
  Magazine* loaded = shelf.loaded.get();
  Magazine* spare = shelf.spare.get();
  loaded->count.store(std::uint32_t(shelf.top.get() - loaded->rounds.data()),
                      std::memory_order_relaxed);
  load(shelf, size_class, spare);
  shelf.spare.set(loaded);
  return true;
}

void PoolCore::empty_magazine(Magazine& magazine) noexcept {
  const std::uint32_t count = magazine.count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) put_block(magazine.rounds[i]);
  magazine.count.store(0, std::memory_order_relaxed);
}

// Returns all that a cache holds. Pre: it is open, and the calling thread's, or its thread has ended.
bool PoolCore::drain(ThreadCache* cache) noexcept {
  if (cache == nullptr) return false;
  bool drained = false;
  if (Chunk* chunk = cache->large.take()) {
    put_block({chunk->base, make_tag(chunk, kLargeClass, cache->stream)});
    drained = true;
  }
  for (Shelf& shelf : cache->shelves) {
    Block* bottom = cache->bottom(shelf);
    for (Block* block = bottom; block != shelf.top.get(); ++block, drained = true)
      put_block(*block);
    shelf.top.release(bottom);
    if (spare_count(shelf) == 0) continue;
    empty_magazine(*shelf.spare.get());
    drained = true;
  }
  return drained;
}

Magazine* PoolCore::take_empty() noexcept {
  if (empties_ == nullptr) return arena_.make<Magazine>();
  Magazine* magazine = empties_;
  empties_ = magazine->next;
  --empty_count_;
  return magazine;
}

void PoolCore::drop_empty(Magazine* magazine) noexcept {
  magazine->next = empties_;
  empties_ = magazine;
  ++empty_count_;
}

// Frees take their empty magazines from this stock, which only allocations fill up.
void PoolCore::stock_empties() noexcept {
  constexpr std::uint32_t kStock = 4;
  while (empty_count_ < kStock) {
    Magazine* magazine = arena_.make<Magazine>();
    if (magazine == nullptr) return;
    drop_empty(magazine);
  }
}

ThreadCache* PoolCore::adopt_cache(StreamId stream, bool grow) noexcept {
  const std::lock_guard lock(mutex_);
  if (grow && !ensure_stream(stream)) return nullptr;
  // One more than is needed, for a thread that begins by freeing.
  for (int i = 0;
       grow && i < 2 && (spare_caches_ == nullptr || spare_caches_->next_spare == nullptr); ++i) {
    ThreadCache* made = arena_.make<ThreadCache>();
    if (made == nullptr) break;
    made->next = caches_;
    caches_ = made;
    made->next_spare = spare_caches_;
    spare_caches_ = made;
  }
  ThreadCache* cache = spare_caches_;
  if (cache == nullptr) return nullptr;
  spare_caches_ = cache->next_spare;
  cache->stream = stream;
  return cache;
}

void PoolCore::retire_cache(ThreadCache* cache) noexcept {
  const std::lock_guard lock(mutex_);
  reopen(cache);
  drain(cache);
  cache->next_spare = spare_caches_;
  spare_caches_ = cache;
}

}  // namespace ebb::detail
