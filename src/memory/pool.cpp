// The pool's fast paths: what most calls come to. Everything else is in pool/.
//
// A call finds the thread's cache by one comparison (t_slot holds the pair of pool and stream used
// last), pops from or pushes to a magazine, and is done: no lock, no atomic read-modify-write, no
// look at the memory or at its records. A large block that was freed last is the next of just its
// size.
#include "ebb/memory/pool.hpp"

#include <atomic>

#include "ebb/base/check.hpp"
#include "ebb/memory/trace.hpp"
#include "memory/event_ring.hpp"
#include "memory/pool/pool_core.hpp"

namespace ebb {

using namespace detail;  // NOLINT: this file is the front of what is in there

namespace {

static_assert(Pool::kSmallLimit == detail::kSmallLimit && Pool::kAlignment == detail::kStep);

std::uint64_t next_key() noexcept {
  static std::atomic<std::uint64_t> keys{0};
  return (keys.fetch_add(1, std::memory_order_relaxed) + 1) << 8;
}

[[gnu::noinline]] void trace_block(EventKind kind, Block block, std::size_t bytes) noexcept {
  trace::record({.id = reinterpret_cast<std::uint64_t>(block.data),
                 .bytes = bytes,
                 .kind = kind,
                 .detail = std::uint8_t(stream_of(block))});
}

}  // namespace

Pool::Pool(Heap& heap, PoolOptions options)
    : key_(next_key()),
      stream_mask_(heap.traits().synchronous ? 0 : kMaxStreams - 1),
      core_(std::make_unique<PoolCore>(heap, options, key_)) {
  register_pool(*core_);
}

Pool::~Pool() { unregister_pool(*core_); }

Block Pool::allocate(std::size_t bytes, StreamId stream) noexcept {
  if (bytes > kSmallLimit) [[unlikely]]
    return allocate_large(bytes, stream & stream_mask_);
  stream &= stream_mask_;
  const std::uint32_t size_class = detail::class_of(bytes);
  const ThreadSlot& slot = t_slot;
  if (slot.key == (key_ | stream)) [[likely]] {
    if (const Block* popped = pop(*slot.cache, size_class)) [[likely]] {
      const Block block = *popped;
      if (trace::blocks_on()) [[unlikely]]
        trace_block(EventKind::kAllocate, block, kClassBytes[size_class]);
      return block;
    }
  }
  return allocate_small(size_class, stream);
}

Block Pool::allocate_small(std::uint32_t size_class, StreamId stream) noexcept {
  ThreadCache* cache = find_cache(*core_, key_ | stream, stream, true);
  const Block block = core_->allocate_small(cache, size_class, stream);
  if (block && trace::blocks_on())
    trace_block(EventKind::kAllocate, block, kClassBytes[size_class]);
  return block;
}

Block Pool::allocate_large(std::size_t bytes, StreamId stream) noexcept {
  if (bytes > kMaxBytes) return {};
  bytes = round_up(bytes, kQuantum);
  const ThreadSlot& slot = t_slot;
  ThreadCache* cache =
      slot.key == (key_ | stream) ? slot.cache : find_cache(*core_, key_ | stream, stream, true);
  Block block;
  if (cache != nullptr && cache->large.bytes == bytes && cache->large.take() != nullptr) {
    cache->allocations.set(cache->allocations.get() + 1);
    block = cache->large.block;
  } else {
    block = core_->allocate_large(cache, bytes, stream);
  }
  if (trace::blocks_on() && block) [[unlikely]]
    trace_block(EventKind::kAllocate, block, bytes);
  return block;
}

void Pool::free(Block block) noexcept {
  const std::uint32_t size_class = detail::class_of(block);
  if (size_class == kLargeClass) [[unlikely]]
    return free_large(block);
  if (block.data == nullptr) [[unlikely]]
    return;
  if (trace::blocks_on()) [[unlikely]]
    trace_block(EventKind::kFree, block, kClassBytes[size_class]);
  const ThreadSlot& slot = t_slot;
  const std::uint64_t key = key_ | stream_of(block);
  if (slot.key == key) [[likely]] {
    if (push(*slot.cache, size_class, block)) [[likely]]
      return;
  }
  core_->free_small(find_cache(*core_, key, stream_of(block), false), block);
}

void Pool::free_large(Block block) noexcept {
  Chunk* chunk = chunk_of(block);
  if (trace::blocks_on()) [[unlikely]]
    trace_block(EventKind::kFree, block, chunk->bytes);
  const StreamId stream = stream_of(block);
  const ThreadSlot& slot = t_slot;
  ThreadCache* cache =
      slot.key == (key_ | stream) ? slot.cache : find_cache(*core_, key_ | stream, stream, false);
  if (cache == nullptr) return core_->free_large(chunk, stream);
  LargeSlot& large = cache->large;
  Chunk* last = large.take();
  large.bytes = chunk->bytes;
  large.block = block;
  large.chunk.store(chunk, std::memory_order_release);
  if (last == nullptr) return;
  EBB_CHECK(last != chunk);  // else it was freed twice
  core_->free_large(last, stream);
}

void Pool::free(Block block, UseNote* note) noexcept {
  if (note == nullptr) return free(block);
  if (trace::blocks_on()) [[unlikely]]
    trace_block(EventKind::kFree, block, block_bytes(block));
  core_->free_noted(block, note);
}

bool Pool::note_use(Block block, UseNote*& note, StreamId stream) noexcept {
  return core_->note_use(block, note, stream & stream_mask_);
}

std::size_t Pool::block_bytes(Block block) const noexcept {
  if (block.data == nullptr) return 0;
  const std::uint32_t size_class = detail::class_of(block);
  return size_class == kLargeClass ? chunk_of(block)->bytes : kClassBytes[size_class];
}

StreamId Pool::home_stream(Block block) noexcept { return stream_of(block); }

std::size_t Pool::rounded(std::size_t bytes) noexcept {
  if (bytes <= kSmallLimit) return kClassBytes[detail::class_of(bytes)];
  return bytes <= kMaxBytes ? round_up(bytes, kQuantum) : bytes;
}

std::size_t Pool::trim(std::size_t bytes) noexcept {
  flush_thread();
  return core_->trim(bytes);
}

void Pool::wait_pending() noexcept {
  flush_thread();
  core_->wait_pending();
}

void Pool::flush_thread() noexcept {
  for (const ThreadSlot::Entry& entry : t_slot.entries)
    if ((entry.key & ~std::uint64_t{0xFF}) == key_) core_->flush(entry.cache);
}

std::size_t Pool::settle() noexcept { return core_->settle(); }
void Pool::reset_peak() noexcept { core_->reset_peak(); }
PoolStats Pool::stats() const noexcept { return core_->stats(); }
void Pool::check() const noexcept { core_->check(); }
Heap& Pool::heap() const noexcept { return core_->heap(); }

}  // namespace ebb
