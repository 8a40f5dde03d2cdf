// What other threads have cached, taken from them; thread_cache.hpp has the protocol.
#include <algorithm>

#include "base/process_barrier.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb::detail {
namespace {

Block* const kNoPop = reinterpret_cast<Block*>(~std::uintptr_t{0});
Block* const kNoPush = nullptr;

std::uint32_t spare_count(const Shelf& shelf) noexcept {
  const Magazine* spare = shelf.spare.get();
  return spare != nullptr ? spare->count.load(std::memory_order_relaxed) : 0;
}

// As far as can be seen from outside.
bool holds_blocks(ThreadCache& cache) noexcept {
  for (const Shelf& shelf : cache.shelves)
    if (cache.count(shelf) != 0 || spare_count(shelf) != 0) return true;
  return false;
}

}  // namespace

// Takes what all threads have in their magazines, except those of `own`. Whether there was anything.
bool PoolCore::take_from_threads(const ThreadCache* own) noexcept {
  bool closed = false;
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    if (cache == own) continue;
    if (cache->state == CacheState::kOpen && holds_blocks(*cache)) close(*cache);
    closed |= cache->state == CacheState::kClosed;
  }
  if (!closed || !process_barrier()) return false;
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
    if (cache != own && cache->state == CacheState::kClosed) take(*cache);
  return true;
}

void PoolCore::close(ThreadCache& cache) noexcept {
  const std::lock_guard guard(cache.guard);
  for (Shelf& shelf : cache.shelves) {
    shelf.floor.store(kNoPop, std::memory_order_relaxed);
    shelf.ceiling.store(kNoPush, std::memory_order_relaxed);
  }
  cache.state = CacheState::kClosed;
}

void PoolCore::take(ThreadCache& cache) noexcept {
  for (std::size_t c = 0; c < kClasses; ++c) {
    const Shelf& shelf = cache.shelves[c];
    // A pop that found nothing may be about to put `top` back.
    const std::ptrdiff_t count = std::max<std::ptrdiff_t>(cache.count(shelf), 0);
    const Block* bottom = cache.bottom(shelf);
    cache.taken[c] = std::int8_t(count);
    for (std::ptrdiff_t i = 0; i < count; ++i) put_block(bottom[i]);
    if (spare_count(shelf) != 0) empty_magazine(*shelf.spare.get());
  }
  const std::lock_guard guard(cache.guard);
  cache.state = CacheState::kTaken;
}

// Opens the gates of the calling thread's cache. Where it was not taken from, what it holds goes
// back, for somebody wanted it. Returns how far what was taken of this class is from what the owner
// sees: -1 for the block that it was popping, 1 for the one that it was pushing.
int PoolCore::reopen(ThreadCache& cache, std::uint32_t size_class) noexcept {
  if (cache.state == CacheState::kOpen) return 0;
  const bool taken = cache.state == CacheState::kTaken;
  const int off = taken ? cache.taken[size_class] - int(cache.count(cache.shelves[size_class])) : 0;
  if (!taken) drain(&cache);
  for (std::size_t c = 0; c < kClasses; ++c) {
    Shelf& shelf = cache.shelves[c];
    Block* bottom = cache.bottom(shelf);
    shelf.top.release(bottom);
    shelf.floor.store(bottom, std::memory_order_relaxed);
    shelf.ceiling.store(bottom + (shelf.loaded.get() != nullptr ? rounds_[c] : 0),
                        std::memory_order_relaxed);
  }
  cache.state = CacheState::kOpen;
  return off;
}

void PoolCore::reopen(ThreadCache* cache) noexcept {
  if (cache != nullptr) reopen(*cache, 0);
}

}  // namespace ebb::detail
