#include "memory/pool/chunk_space.hpp"

#include <algorithm>

#include "ebb/base/check.hpp"

namespace ebb::detail {

// The most records that one take, grow or trimmed chunk needs. They are fetched beforehand, so that
// nothing has to be undone in the middle.
constexpr std::size_t kRecordsPerCall = 4;

ChunkSpace::ChunkSpace(Heap& heap, MetadataArena& arena)
    : heap_(heap),
      arena_(arena),
      granule_(heap.traits().granule),
      preferred_span_(std::max(heap.traits().preferred_span, heap.traits().granule)) {}

ChunkSpace::~ChunkSpace() {
  for (Span* span = spans_; span != nullptr; span = span->next) {
    for (Chunk* chunk = span->first; chunk != nullptr;) {
      Chunk* last = chunk;  // runs of committed chunks go back in one call
      if (chunk->state != ChunkState::kHole) {
        while (last->next != nullptr && last->next->state != ChunkState::kHole) last = last->next;
        heap_.decommit(chunk->base, std::size_t(last->end() - chunk->base));
      }
      chunk = last->next;
    }
    heap_.unreserve(span->base, span->bytes);
  }
}

Chunk* ChunkSpace::take(std::size_t bytes, StreamId stream) noexcept {
  if (!ensure_records(kRecordsPerCall)) return nullptr;
  Chunk* best = neutral_.find(bytes);
  if (frees_[stream] != nullptr) {
    Chunk* own = frees_[stream]->index.find(bytes);
    if (own != nullptr && (best == nullptr || own->bytes <= best->bytes)) best = own;
  }
  if (best == nullptr) return nullptr;
  remove_free(best);
  return carve(best, bytes);
}

Chunk* ChunkSpace::grow(std::size_t bytes, StreamId stream) noexcept {
  if (!ensure_records(kRecordsPerCall)) return nullptr;
  Site site = cheapest_site(bytes, stream);
  if (site.hole == nullptr) {
    if (!add_span(bytes)) return nullptr;
    site = cheapest_site(bytes, stream);
  }
  if (!commit(site)) {
    // Room is there, only in the wrong places: what is lacking here is given back elsewhere.
    if (trim(site.commit, site.before, site.after) == 0) return nullptr;
    if (!ensure_records(kRecordsPerCall)) return nullptr;
    site = site_at(site.hole, bytes, stream);
    if (!commit(site)) return nullptr;
  }
  return carve(fill(site), bytes);
}

void ChunkSpace::add_stream(StreamId stream, StreamFrees* frees) noexcept {
  frees_[stream] = frees;
  ++streams_;
}

void ChunkSpace::give(Chunk* chunk, Owner owner, Ticket ticket) noexcept {
  chunk->state = ChunkState::kFree;
  chunk->owner = owner;
  chunk->ticket = ticket;
  join_and_insert(chunk, streams_ == 1);
}

// Where owners differ, one of them is everybody, and the other's claim holds for the whole.
void ChunkSpace::join_and_insert(Chunk* chunk, bool all_owners) noexcept {
  const auto joins = [&](const Chunk* other) {
    return other != nullptr && other->state == ChunkState::kFree &&
           (all_owners || other->owner == chunk->owner);
  };
  if (joins(chunk->next)) {
    remove_free(chunk->next);
    chunk->owner = std::min(chunk->owner, chunk->next->owner);
    absorb_next(chunk);
  }
  if (joins(chunk->prev)) {
    const Owner owner = std::min(chunk->owner, chunk->prev->owner);
    chunk = chunk->prev;
    remove_free(chunk);
    chunk->owner = owner;
    absorb_next(chunk);
  }
  insert_free(chunk);
}

void ChunkSpace::release_pending(StreamId stream, Ticket done) noexcept {
  if (frees_[stream] == nullptr) return;
  Chunk* next = nullptr;
  for (Chunk* chunk = frees_[stream]->chunks.head; chunk != nullptr; chunk = next) {
    next = chunk->pending_next;
    if (chunk->ticket > done) continue;
    remove_free(chunk);
    chunk->owner = kNeutral;
    chunk->ticket = 0;
    join_and_insert(chunk, false);  // only with what is everybody's too, so `next` stays valid
  }
}

std::size_t ChunkSpace::free_bytes() const noexcept { return neutral_.bytes() + pending_bytes(); }

std::size_t ChunkSpace::pending_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const StreamFrees* frees : frees_)
    if (frees != nullptr) bytes += frees->index.bytes();
  return bytes;
}

std::size_t ChunkSpace::largest_free() const noexcept {
  std::size_t largest = neutral_.largest();
  for (const StreamFrees* frees : frees_)
    if (frees != nullptr) largest = std::max(largest, frees->index.largest());
  return largest;
}

bool ChunkSpace::ensure_records(std::size_t count) noexcept {
  while (record_count_ < count) {
    Chunk* record = arena_.make<Chunk>();
    if (record == nullptr) return false;
    drop_record(record);
  }
  return true;
}

Chunk* ChunkSpace::take_record() noexcept {
  EBB_CHECK(record_count_ > 0);
  Chunk* record = records_.head;
  records_.remove(record);
  --record_count_;
  return record;
}

void ChunkSpace::drop_record(Chunk* chunk) noexcept {
  chunk->state = ChunkState::kUnused;
  records_.push(chunk);
  ++record_count_;
}

// Cuts `chunk` to `bytes` and returns the rest, which has its state and owner but is on no list.
Chunk* ChunkSpace::split(Chunk* chunk, std::size_t bytes) noexcept {
  Chunk* rest = take_record();
  rest->base = chunk->base + bytes;
  rest->bytes = chunk->bytes - bytes;
  rest->state = chunk->state;
  rest->owner = chunk->owner;
  rest->ticket = chunk->ticket;
  rest->prev = chunk;
  rest->next = chunk->next;
  if (rest->next != nullptr) rest->next->prev = rest;
  chunk->next = rest;
  chunk->bytes = bytes;
  return rest;
}

// Joins the next chunk to this one. Pre: both are on no list.
void ChunkSpace::absorb_next(Chunk* chunk) noexcept {
  Chunk* next = chunk->next;
  chunk->bytes += next->bytes;
  chunk->ticket = std::max(chunk->ticket, next->ticket);
  chunk->next = next->next;
  if (chunk->next != nullptr) chunk->next->prev = chunk;
  drop_record(next);
}

void ChunkSpace::insert_free(Chunk* chunk) noexcept {
  if (chunk->owner == kNeutral) return neutral_.insert(chunk);
  StreamFrees& frees = *frees_[chunk->owner];
  frees.index.insert(chunk);
  frees.chunks.push(chunk);
}

void ChunkSpace::remove_free(Chunk* chunk) noexcept {
  if (chunk->owner == kNeutral) return neutral_.remove(chunk);
  StreamFrees& frees = *frees_[chunk->owner];
  frees.index.remove(chunk);
  frees.chunks.remove(chunk);
}

// Makes a block of the low end of a free chunk that is on no list; the rest is free again.
Chunk* ChunkSpace::carve(Chunk* chunk, std::size_t bytes) noexcept {
  chunk->state = ChunkState::kLarge;
  if (chunk->bytes > bytes) give(split(chunk, bytes), chunk->owner, chunk->ticket);
  return chunk;
}

}  // namespace ebb::detail
