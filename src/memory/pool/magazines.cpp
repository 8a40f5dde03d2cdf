// The exchange of magazines between threads and the depot; thread_cache.hpp has the protocol.
#include <algorithm>

#include "ebb/base/check.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb::detail {
namespace {

Block pop(ThreadCache& cache, std::uint32_t size_class) noexcept {
  Shelf& shelf = cache.shelves[size_class];
  Block* top = shelf.top.get() - 1;
  shelf.top.set(top);
  cache.allocations.set(cache.allocations.get() + 1);
  return *top;
}

void push(ThreadCache& cache, Block block) noexcept {
  Shelf& shelf = cache.shelves[class_of(block)];
  Block* top = shelf.top.get();
  *top = block;
  shelf.top.set(top + 1);
}

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
  Shelf& shelf = cache->shelves[size_class];
  if (shelf.top.get() != shelf.base.get()) return pop(*cache, size_class);
  if (spare_count(shelf) > 0 && swap(shelf, size_class)) return pop(*cache, size_class);
  const std::lock_guard lock(mutex_);
  if (!ensure_stream(stream)) return {};
  heed_recall(*cache);
  stock_empties();
  if (reload(*cache, size_class)) return pop(*cache, size_class);
  return {};
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
  Block* base = shelf.base.get();
  std::size_t taken = slabs.take(size_class, cache.stream, base, rounds_[size_class]);
  if (taken == 0) {
    Chunk* chunk = acquire(&cache, kSlabShapes[size_class].bytes, cache.stream);
    if (chunk == nullptr) return false;
    slabs.add(chunk, size_class);
    taken = slabs.take(size_class, cache.stream, base, rounds_[size_class]);
  }
  shelf.top.set(base + taken);
  return true;
}

void PoolCore::free_small(ThreadCache* cache, Block block) noexcept {
  const std::uint32_t size_class = class_of(block);
  if (cache != nullptr) {
    Shelf& shelf = cache->shelves[size_class];
    const bool room = shelf.top.get() != shelf.limit;
    if (room ||
        (shelf.spare.get() != nullptr && spare_count(shelf) == 0 && swap(shelf, size_class)))
      return push(*cache, block);
  }
  const std::lock_guard lock(mutex_);
  if (cache == nullptr) return put_block(block);
  heed_recall(*cache);
  const Shelf& shelf = cache->shelves[size_class];
  if (shelf.top.get() == shelf.limit && !unload(*cache, size_class)) return put_block(block);
  push(*cache, block);
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
  shelf.base.set(base);
  shelf.top.set(base + magazine->count.load(std::memory_order_relaxed));
  shelf.limit = base + rounds_[size_class];
}

// Changes the loaded magazine for the spare. Needs no lock.
bool PoolCore::swap(Shelf& shelf, std::uint32_t size_class) noexcept {
  Magazine* loaded = shelf.loaded.get();
  Magazine* spare = shelf.spare.get();
  loaded->count.store(std::uint32_t(shelf.top.get() - shelf.base.get()), std::memory_order_relaxed);
  load(shelf, size_class, spare);
  shelf.spare.set(loaded);
  return true;
}

void PoolCore::empty_magazine(Magazine& magazine) noexcept {
  const std::uint32_t count = magazine.count.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i) put_block(magazine.rounds[i]);
  magazine.count.store(0, std::memory_order_relaxed);
}

// Returns all that a cache holds. Pre: it is the calling thread's, or its thread has ended.
bool PoolCore::drain(ThreadCache* cache) noexcept {
  if (cache == nullptr) return false;
  bool drained = false;
  if (Chunk* chunk = cache->large.take()) {
    put_block({chunk->base, make_tag(chunk, kLargeClass, cache->stream)});
    drained = true;
  }
  for (Shelf& shelf : cache->shelves) {
    Block* base = shelf.base.get();
    for (Block* block = base; block != shelf.top.get(); ++block, drained = true) put_block(*block);
    shelf.top.set(base);
    if (spare_count(shelf) == 0) continue;
    empty_magazine(*shelf.spare.get());
    drained = true;
  }
  return drained;
}

void PoolCore::heed_recall(ThreadCache& cache) noexcept {
  if (cache.recalls_seen == recalls_) return;
  cache.recalls_seen = recalls_;
  drain(&cache);
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
  drain(cache);
  cache->next_spare = spare_caches_;
  spare_caches_ = cache;
}

}  // namespace ebb::detail
