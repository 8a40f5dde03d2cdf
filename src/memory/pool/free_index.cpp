#include "memory/pool/free_index.hpp"

namespace ebb::detail {
namespace {

// The lists' links are the tree's while a chunk is free.
constexpr Chunk* Chunk::*kLeft = &Chunk::list_prev;
constexpr Chunk* Chunk::*kRight = &Chunk::list_next;

bool before(const Chunk* a, const Chunk* b) noexcept {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->base < b->base;
}

// As good as random, and another for each record.
std::uint64_t priority(const Chunk* chunk) noexcept {
  return reinterpret_cast<std::uint64_t>(chunk) / alignof(Chunk) * 0x9E3779B97F4A7C15u;
}

}  // namespace

void FreeIndex::insert(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->bytes);
  Chunk** link = &roots_[bin];
  while (*link != nullptr && priority(*link) > priority(chunk))
    link = &(before(chunk, *link) ? (*link)->*kLeft : (*link)->*kRight);
  // What is below goes to its left and right.
  Chunk** less = &(chunk->*kLeft);
  Chunk** more = &(chunk->*kRight);
  for (Chunk* at = *link; at != nullptr;) {
    const bool left = before(at, chunk);
    Chunk**& end = left ? less : more;
    *end = at;
    end = &(left ? at->*kRight : at->*kLeft);
    at = *end;
  }
  *less = *more = nullptr;
  *link = chunk;
  map_[bin / 64] |= std::uint64_t{1} << bin % 64;
  bytes_ += chunk->bytes;
}

void FreeIndex::remove(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->bytes);
  Chunk** link = &roots_[bin];
  while (*link != chunk) link = &(before(chunk, *link) ? (*link)->*kLeft : (*link)->*kRight);
  Chunk* less = chunk->*kLeft;
  Chunk* more = chunk->*kRight;
  while (less != nullptr && more != nullptr) {
    Chunk*& upper = priority(less) > priority(more) ? less : more;
    *link = upper;
    link = &(&upper == &less ? less->*kRight : more->*kLeft);
    upper = *link;
  }
  *link = less != nullptr ? less : more;
  if (roots_[bin] == nullptr) map_[bin / 64] &= ~(std::uint64_t{1} << bin % 64);
  bytes_ -= chunk->bytes;
}

std::size_t FreeIndex::next_occupied(std::size_t bin) const noexcept {
  std::size_t word = bin / 64;
  std::uint64_t bits = map_[word] & ~std::uint64_t{0} << bin % 64;
  while (bits == 0) {
    if (++word == map_.size()) return kBins;
    bits = map_[word];
  }
  return word * 64 + std::size_t(std::countr_zero(bits));
}

Chunk* FreeIndex::find_in(std::size_t bin, std::size_t bytes) const noexcept {
  Chunk* best = nullptr;
  for (Chunk* at = roots_[bin]; at != nullptr;) {
    const bool fits = at->bytes >= bytes;
    if (fits) best = at;
    at = fits ? at->*kLeft : at->*kRight;
  }
  return best;
}

Chunk* FreeIndex::find(std::size_t bytes) const noexcept {
  const std::size_t bin = bin_of(bytes);
  if (Chunk* best = find_in(bin, bytes)) return best;
  const std::size_t next = bin + 1 < kBins ? next_occupied(bin + 1) : kBins;
  return next < kBins ? find_in(next, bytes) : nullptr;
}

Chunk* FreeIndex::last_before(const Chunk* limit) const noexcept {
  std::size_t bin = limit == nullptr ? kBins - 1 : bin_of(limit->bytes);
  for (;; --bin) {
    Chunk* last = nullptr;
    for (Chunk* at = roots_[bin]; at != nullptr;) {
      const bool below = limit == nullptr || before(at, limit);
      if (below) last = at;
      at = below ? at->*kRight : at->*kLeft;
    }
    if (last != nullptr || bin == 0) return last;
  }
}

std::size_t FreeIndex::largest() const noexcept {
  const Chunk* last = last_before(nullptr);
  return last == nullptr ? 0 : last->bytes;
}

}  // namespace ebb::detail
