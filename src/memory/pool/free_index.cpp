#include "memory/pool/free_index.hpp"

#include <algorithm>

namespace ebb::detail {
namespace {

bool before(const Chunk* a, const Chunk* b) {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->base < b->base;
}

}  // namespace

void FreeIndex::insert(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->bytes);
  Chunk* place = nullptr;
  Chunk* next = bins_[bin].head;
  for (int walked = 0; next != nullptr && walked < kWalk && before(next, chunk); ++walked) {
    place = next;
    next = next->list_next;
  }
  bins_[bin].insert_after(chunk, place);
  map_[bin / 64] |= std::uint64_t{1} << bin % 64;
  bytes_ += chunk->bytes;
}

void FreeIndex::remove(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->bytes);
  bins_[bin].remove(chunk);
  if (bins_[bin].empty()) map_[bin / 64] &= ~(std::uint64_t{1} << bin % 64);
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

Chunk* FreeIndex::find(std::size_t bytes) const noexcept {
  const std::size_t bin = bin_of(bytes);
  for (Chunk* chunk = bins_[bin].head; chunk != nullptr; chunk = chunk->list_next)
    if (chunk->bytes >= bytes) return chunk;
  if (bin + 1 >= kBins) return nullptr;
  const std::size_t next = next_occupied(bin + 1);
  return next < kBins ? bins_[next].head : nullptr;
}

std::size_t FreeIndex::largest() const noexcept {
  std::size_t largest = 0;
  for (std::size_t bin = kBins; bin-- > 0;) {
    if (!occupied(bin)) continue;
    for (Chunk* chunk = bins_[bin].head; chunk != nullptr; chunk = chunk->list_next)
      largest = std::max(largest, chunk->bytes);
    break;
  }
  return largest;
}

}  // namespace ebb::detail
