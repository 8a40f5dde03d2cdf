// Blocks, chunks and streams. Where memory comes from, cheapest first:
//
//   1. what is committed and free, of the stream itself or everybody's
//   2. what streams have freed and meanwhile reached (settle)
//   3. what lies idle in the depots and in the threads' large slots
//   4. more from the heap, which gets unusable granules back where it refuses
//   5. what the calling thread has in its magazines
//   6. what all other threads have in theirs
#include "memory/pool/pool_core.hpp"

#include <algorithm>

#include "ebb/base/check.hpp"

namespace ebb::detail {

PoolCore::PoolCore(Heap& heap, const PoolOptions& options, std::uint64_t key)
    : heap_(heap),
      key_(key),
      capacity_(heap.traits().capacity),
      own_metadata_({.granule = 64 << 10, .preferred_span = 1 << 20, .huge_pages = false}),
      arena_(options.metadata != nullptr ? *options.metadata : own_metadata_),
      space_(heap, arena_),
      order_(heap) {
  for (std::size_t c = 0; c < kClasses; ++c)
    rounds_[c] = std::uint32_t(
        std::clamp<std::size_t>(options.magazine_bytes / kClassBytes[c], 4, kMagazineRounds));
}

// Work that is still queued may use what is given up here.
PoolCore::~PoolCore() {
  if (order_.synchronous()) return;
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (streams_[stream] != nullptr) heap_.wait({stream, heap_.submitted(stream)});
}

bool PoolCore::ensure_stream(StreamId stream) noexcept {
  if (streams_[stream] != nullptr) return true;
  StreamState* state = arena_.make<StreamState>();
  if (state == nullptr) return false;
  streams_[stream] = state;
  ++stream_count_;
  space_.add_stream(stream, &state->frees);
  return true;
}

Chunk* PoolCore::acquire(ThreadCache* cache, std::size_t bytes, StreamId stream) noexcept {
  if (bytes > capacity_) return nullptr;
  if (Chunk* chunk = space_.take(bytes, stream)) return chunk;
  if (settling_may_help()) {
    settle_locked();
    if (Chunk* chunk = space_.take(bytes, stream)) return chunk;
  }
  if (release_idle())
    if (Chunk* chunk = space_.take(bytes, stream)) return chunk;
  if (Chunk* chunk = space_.grow(bytes, stream)) return chunk;
  const auto take_or_grow = [&] {
    if (settling_may_help()) settle_locked();
    Chunk* chunk = space_.take(bytes, stream);
    return chunk != nullptr ? chunk : space_.grow(bytes, stream);
  };
  if (drain(cache))
    if (Chunk* chunk = take_or_grow()) return chunk;
  return take_from_threads(cache) ? take_or_grow() : nullptr;
}

void PoolCore::give_chunk(Chunk* chunk, StreamId stream) noexcept {
  const Ticket ticket = order_.position(stream);
  space_.give(chunk, order_.reached(stream, ticket) ? kNeutral : Owner(stream), ticket);
}

Block PoolCore::allocate_large(ThreadCache* cache, std::size_t bytes, StreamId stream) noexcept {
  const std::lock_guard lock(mutex_);
  if (!ensure_stream(stream)) return {};
  reopen(cache);
  if (cache != nullptr)  // what is in the slot did not fit; where it lies it could not join
    if (Chunk* last = cache->large.take())
      put_block({last->base, make_tag(last, kLargeClass, stream)});
  Chunk* chunk = acquire(cache, bytes, stream);
  if (chunk == nullptr) return {};
  large_out_.bytes += chunk->bytes;
  ++large_out_.blocks;
  ++allocations_;
  return {chunk->base, make_tag(chunk, kLargeClass, stream)};
}

void PoolCore::free_large(Chunk* chunk, StreamId stream) noexcept {
  const std::lock_guard lock(mutex_);
  put_block({chunk->base, make_tag(chunk, kLargeClass, stream)});
}

void PoolCore::put_block(Block block) noexcept {
  Chunk* chunk = chunk_of(block);
  const StreamId stream = stream_of(block);
  if (class_of(block) != kLargeClass) {
    Chunk* empty = streams_[stream]->slabs.put(block);
    if (empty != nullptr) give_chunk(empty, stream);
    return;
  }
  EBB_CHECK(chunk->state == ChunkState::kLarge && chunk->base == block.data);  // else freed twice
  large_out_.bytes -= chunk->bytes;
  --large_out_.blocks;
  give_chunk(chunk, stream);
}

bool PoolCore::release_idle() noexcept {
  bool released = release_slots();
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (streams_[stream] != nullptr) released |= release_depot(stream);
  return released;
}

bool PoolCore::release_depot(StreamId stream) noexcept {
  Depot& depot = streams_[stream]->depot;
  bool released = false;
  for (std::uint32_t c = 0; c < kClasses; ++c) {
    while (Magazine* magazine = depot.pop(c)) {
      empty_magazine(*magazine);
      drop_empty(magazine);
      released = true;
    }
  }
  return released;
}

bool PoolCore::release_slots() noexcept {
  bool released = false;
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) {
    Chunk* chunk = cache->large.take();
    if (chunk == nullptr) continue;
    put_block({chunk->base, make_tag(chunk, kLargeClass, cache->stream)});
    released = true;
  }
  return released;
}

bool PoolCore::note_use(Block block, UseNote*& note, StreamId stream) noexcept {
  if (order_.synchronous() || stream == stream_of(block)) return true;
  if (note == nullptr) {
    const std::lock_guard lock(mutex_);
    note = spare_notes_ != nullptr ? spare_notes_ : arena_.make<UseNote>();
    if (note == nullptr) return false;
    if (note == spare_notes_) spare_notes_ = note->next;
    note->streams = 0;
  }
  note->streams |= std::uint64_t{1} << stream;
  return true;
}

void PoolCore::free_noted(Block block, UseNote* note) noexcept {
  const std::lock_guard lock(mutex_);
  note->block = block;
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (note->streams >> stream & 1) note->tickets[stream] = order_.position(stream);
  note->next = deferred_;
  deferred_ = note;
  const bool large = class_of(block) == kLargeClass;
  deferred_held_.bytes += large ? chunk_of(block)->bytes : kClassBytes[class_of(block)];
  ++deferred_held_.blocks;
  if (all_reached(*note)) settle_deferred();
}

bool PoolCore::all_reached(const UseNote& note) const noexcept {
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (note.streams >> stream & 1 && !order_.reached(stream, note.tickets[stream])) return false;
  return true;
}

void PoolCore::settle_deferred() noexcept {
  for (UseNote** link = &deferred_; *link != nullptr;) {
    UseNote* note = *link;
    if (!all_reached(*note)) {
      link = &note->next;
      continue;
    }
    *link = note->next;
    note->next = spare_notes_;
    spare_notes_ = note;
    const bool large = class_of(note->block) == kLargeClass;
    deferred_held_.bytes -=
        large ? chunk_of(note->block)->bytes : kClassBytes[class_of(note->block)];
    --deferred_held_.blocks;
    put_block(note->block);
  }
}

void PoolCore::settle_locked() noexcept {
  if (order_.synchronous()) return;
  order_.poll();
  settle_deferred();
  for (StreamId stream = 0; stream < kMaxStreams; ++stream)
    if (streams_[stream] != nullptr) space_.release_pending(stream, order_.done(stream));
}

std::size_t PoolCore::pending() const noexcept {
  return space_.pending_bytes() + deferred_held_.bytes;
}

std::size_t PoolCore::settle() noexcept {
  const std::lock_guard lock(mutex_);
  settle_locked();
  return pending();
}

// Twice: a block that waited for other streams goes home then, and may have to wait there.
void PoolCore::wait_pending() noexcept {
  std::unique_lock lock(mutex_);
  take_from_threads(nullptr);
  release_idle();
  for (int round = 0; round < 2 && !order_.synchronous(); ++round) {
    const auto awaited = order_.awaited();
    lock.unlock();
    for (StreamId stream = 0; stream < kMaxStreams; ++stream)
      if (awaited[stream] != 0) heap_.wait({stream, awaited[stream]});
    lock.lock();
    for (StreamId stream = 0; stream < kMaxStreams; ++stream)
      order_.mark_reached(stream, awaited[stream]);
    settle_locked();
  }
}

// The system takes some 20 us to take a megabyte of pages back, and others wait for the lock: it is
// given back after each few.
std::size_t PoolCore::trim_in_steps(std::size_t bytes) noexcept {
  constexpr std::size_t kStep = std::size_t{32} << 20;
  std::size_t trimmed = 0;
  for (std::size_t step = 1; step != 0 && trimmed < bytes; trimmed += step) {
    const std::lock_guard lock(mutex_);
    step = space_.trim(std::min(bytes - trimmed, kStep));
  }
  return trimmed;
}

std::size_t PoolCore::trim(std::size_t bytes) noexcept {
  bytes = std::min(bytes, kMaxBytes);
  settle_idle();
  const std::size_t trimmed = trim_in_steps(bytes);
  if (trimmed >= bytes || !settle_what_threads_keep()) return trimmed;
  return trimmed + trim_in_steps(bytes - trimmed);
}

void PoolCore::settle_idle() noexcept {
  const std::lock_guard lock(mutex_);
  release_idle();
  settle_locked();
}

bool PoolCore::settle_what_threads_keep() noexcept {
  const std::lock_guard lock(mutex_);
  if (!take_from_threads(nullptr)) return false;
  settle_locked();
  return true;
}

void PoolCore::lock_all() noexcept {
  mutex_.lock();
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) cache->guard.lock();
}

void PoolCore::unlock_all() noexcept {
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next) cache->guard.unlock();
  mutex_.unlock();
}

void PoolCore::forget_waiters() noexcept {
  for (ThreadCache* cache = caches_; cache != nullptr; cache = cache->next)
    cache->guard.forget_waiters();
}

void PoolCore::flush(ThreadCache* cache) noexcept {
  const std::lock_guard lock(mutex_);
  reopen(cache);
  drain(cache);
}

}  // namespace ebb::detail
