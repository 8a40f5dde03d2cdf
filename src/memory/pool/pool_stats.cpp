// What the pool knows about itself.
#include <algorithm>

#include "ebb/base/check.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb::detail {

// Blocks in magazines and slots. Threads may be at work meanwhile: then a count may be off by what
// they move, and a mixed pair of pointers is thrown away.
PoolCore::Held PoolCore::held() const noexcept {
  Held held = deferred_held_;
  const auto add = [&held](std::size_t blocks, std::size_t bytes) {
    held.blocks += blocks;
    held.bytes += blocks * bytes;
  };
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    for (std::size_t c = 0; c < kClasses && cache->state != CacheState::kTaken; ++c) {
      const Shelf& shelf = cache->shelves[c];
      const auto loaded = std::size_t(cache->count(shelf));
      if (loaded <= kMagazineRounds) add(loaded, kClassBytes[c]);
      if (const Magazine* spare = shelf.spare.get())
        add(spare->count.load(std::memory_order_relaxed), kClassBytes[c]);
    }
    if (const Chunk* chunk = cache->large.chunk.load(std::memory_order_acquire))
      add(1, chunk->bytes);
  }
  for (const StreamState* state : streams_)
    for (std::uint32_t c = 0; state != nullptr && c < kClasses; ++c)
      add(state->depot.blocks(c), kClassBytes[c]);
  return held;
}

void PoolCore::reset_peak() noexcept {
  const std::lock_guard lock(mutex_);
  space_.reset_peak();
}

PoolStats PoolCore::stats() const noexcept {
  const std::lock_guard lock(mutex_);
  Held out = large_out_;
  for (const StreamState* state : streams_) {
    if (state == nullptr) continue;
    out.bytes += state->slabs.out_bytes();
    out.blocks += state->slabs.out_blocks();
  }
  const Held idle = held();
  PoolStats stats;
  stats.committed = space_.committed();
  stats.in_use = out.bytes - std::min(out.bytes, idle.bytes);
  stats.cached = stats.committed - stats.in_use;
  stats.reserved = space_.reserved();
  stats.peak_committed = space_.peak_committed();
  stats.pending = pending();
  stats.largest_free = space_.largest_free();
  stats.free_chunks_bytes = space_.free_bytes();
  stats.metadata = arena_.bytes();
  stats.allocations = allocations_;
  for (const ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
    stats.allocations += cache->allocations.get();
  const std::size_t live = out.blocks - std::min(out.blocks, idle.blocks);
  stats.frees = stats.allocations - std::min<std::uint64_t>(stats.allocations, live);
  return stats;
}

void PoolCore::check() const noexcept {
  const std::lock_guard lock(mutex_);
  const std::size_t used = space_.check();
  std::size_t out = large_out_.bytes;
  for (const StreamState* state : streams_)
    if (state != nullptr) out += state->slabs.out_bytes();
  EBB_CHECK(out <= used);
}

}  // namespace ebb::detail
