// The half of ChunkSpace that talks to the heap: spans, commit and trim.
#include <algorithm>

#include "ebb/base/check.hpp"
#include "memory/pool/chunk_space.hpp"

namespace ebb::detail {

bool ChunkSpace::usable(const Chunk* chunk, StreamId stream) noexcept {
  return chunk != nullptr && chunk->state == ChunkState::kFree &&
         (chunk->owner == kNeutral || chunk->owner == stream);
}

// What `bytes` would cost at this hole; without a hole: it does not fit there.
ChunkSpace::Site ChunkSpace::site_at(Chunk* hole, std::size_t bytes,
                                     StreamId stream) const noexcept {
  Site site{.hole = hole};
  std::size_t there = 0;
  if (usable(hole->prev, stream)) {
    site.before = hole->prev;
    there = site.before->bytes;
  }
  EBB_CHECK(bytes > there);  // it would have been taken
  site.commit = round_up(bytes - there, granule_);
  if (site.commit <= hole->bytes) return site;
  there += hole->bytes;
  if (!usable(hole->next, stream) || there + hole->next->bytes < bytes) return {};
  site.after = hole->next;
  site.commit = hole->bytes;
  return site;
}

ChunkSpace::Site ChunkSpace::cheapest_site(std::size_t bytes, StreamId stream) const noexcept {
  Site best;
  for (Chunk* hole = holes_.head; hole != nullptr; hole = hole->list_next) {
    const Site site = site_at(hole, bytes, stream);
    if (site.hole == nullptr) continue;
    const bool cheaper = best.hole == nullptr || site.commit < best.commit ||
                         (site.commit == best.commit && site.hole->base < best.hole->base);
    if (cheaper) best = site;
  }
  return best;
}

bool ChunkSpace::commit(const Site& site) noexcept {
  if (site.hole == nullptr || !heap_.commit(site.hole->base, site.commit)) return false;
  committed_ += site.commit;
  peak_committed_ = std::max(peak_committed_, committed_);
  return true;
}

// Turns what was committed, and the free chunks beside it, into one free chunk that is on no list.
// Its owner is that of its far end, where the rest of it will be cut off.
Chunk* ChunkSpace::fill(const Site& site) noexcept {
  Chunk* chunk = site.hole;
  holes_.remove(chunk);
  if (chunk->bytes > site.commit) holes_.push(split(chunk, site.commit));
  chunk->state = ChunkState::kFree;
  chunk->owner = kNeutral;
  chunk->ticket = 0;
  if (site.after != nullptr) {
    remove_free(site.after);
    chunk->owner = site.after->owner;
    chunk->ticket = site.after->ticket;
    absorb_next(chunk);
  }
  if (site.before != nullptr) {
    Chunk* before = site.before;
    remove_free(before);
    before->owner = chunk->owner;
    before->ticket = chunk->ticket;
    absorb_next(before);
    chunk = before;
  }
  return chunk;
}

// Reserves a generous span; where address space is limited, smaller ones down to what is needed.
bool ChunkSpace::add_span(std::size_t bytes) noexcept {
  const std::size_t least = round_up(bytes, granule_);
  std::size_t size = std::max(round_up(preferred_span_, granule_), least);
  std::byte* base = heap_.reserve(size);
  while (base == nullptr && size > least) {
    size = std::max(round_up(size / 2, granule_), least);
    base = heap_.reserve(size);
  }
  if (base == nullptr) return false;
  Span* span = arena_.make<Span>();
  if (span == nullptr) {
    heap_.unreserve(base, size);
    return false;
  }
  Chunk* hole = take_record();
  *hole = Chunk{};
  hole->base = base;
  hole->bytes = size;
  hole->state = ChunkState::kHole;
  holes_.push(hole);
  *span = {spans_, base, size, hole};
  spans_ = span;
  reserved_ += size;
  return ensure_records(2);
}

// Largest first: fewest calls. Only what is everybody's: the device may still be at work on the
// rest.
std::size_t ChunkSpace::trim(std::size_t bytes, const Chunk* keep, const Chunk* keep_too) noexcept {
  std::size_t trimmed = 0;
  const auto has_granule = [&](const Chunk* chunk) {
    if (chunk == keep || chunk == keep_too) return false;
    const auto base = reinterpret_cast<std::uintptr_t>(chunk->base);
    return round_up(base, granule_) + granule_ <= base + chunk->bytes;
  };
  while (trimmed < bytes && ensure_records(2)) {
    Chunk* chunk = neutral_.find_largest(granule_, has_granule);
    if (chunk == nullptr) break;
    trimmed += trim_chunk(chunk, bytes - trimmed);
  }
  return trimmed;
}

// Decommits granules of one free chunk: at its upper end, or at its lower end where a hole is
// there.
std::size_t ChunkSpace::trim_chunk(Chunk* chunk, std::size_t bytes) noexcept {
  const auto base = reinterpret_cast<std::uintptr_t>(chunk->base);
  std::size_t first = round_up(base, granule_) - base;
  std::size_t last = (base + chunk->bytes) / granule_ * granule_ - base;
  bytes = bytes < last - first ? std::min(round_up(bytes, granule_), last - first) : last - first;
  const bool low = first == 0 && chunk->prev != nullptr && chunk->prev->state == ChunkState::kHole;
  low ? last = first + bytes : first = last - bytes;

  remove_free(chunk);
  if (last < chunk->bytes) insert_free(split(chunk, last));
  if (first > 0) {
    Chunk* middle = split(chunk, first);
    insert_free(chunk);
    chunk = middle;
  }
  heap_.decommit(chunk->base, chunk->bytes);
  committed_ -= bytes;
  make_hole(chunk);
  return bytes;
}

// Joins it with the holes beside it. The chunk is on no list.
void ChunkSpace::make_hole(Chunk* chunk) noexcept {
  chunk->state = ChunkState::kHole;
  chunk->owner = kNeutral;
  if (chunk->next != nullptr && chunk->next->state == ChunkState::kHole) {
    holes_.remove(chunk->next);
    absorb_next(chunk);
  }
  if (chunk->prev != nullptr && chunk->prev->state == ChunkState::kHole) {
    chunk = chunk->prev;
    holes_.remove(chunk);
    absorb_next(chunk);
  }
  holes_.push(chunk);
}

std::size_t ChunkSpace::check() const noexcept {
  std::size_t used = 0;
  std::size_t committed = 0;
  for (const Span* span = spans_; span != nullptr; span = span->next)
    check_span(*span, used, committed);
  EBB_CHECK(committed == committed_);
  EBB_CHECK(used + free_bytes() == committed_);
  return used;
}

void ChunkSpace::check_span(const Span& span, std::size_t& used,
                            std::size_t& committed) const noexcept {
  std::byte* at = span.base;
  const Chunk* prev = nullptr;
  for (const Chunk* chunk = span.first; chunk != nullptr; chunk = chunk->next) {
    EBB_CHECK(chunk->base == at && chunk->bytes > 0 && chunk->prev == prev);
    EBB_CHECK(chunk->state != ChunkState::kUnused);
    const bool in_use = chunk->state == ChunkState::kLarge || chunk->state == ChunkState::kSlab;
    if (in_use) used += chunk->bytes;
    if (chunk->state != ChunkState::kHole) committed += chunk->bytes;
    const bool joined =
        prev == nullptr || in_use || prev->state != chunk->state || prev->owner != chunk->owner;
    EBB_CHECK(joined);
    at += chunk->bytes;
    prev = chunk;
  }
  EBB_CHECK(at == span.base + span.bytes);
}

}  // namespace ebb::detail
