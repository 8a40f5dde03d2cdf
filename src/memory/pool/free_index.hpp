// FreeIndex: free chunks by size. Bins, sixteen to a doubling, with a bitmap over them; inside a
// bin the chunks are kept in order of size, then address (as far as a bounded walk reaches), so
// that the first that fits is the best fit.
#pragma once

#include <array>
#include <bit>

#include "memory/pool/chunk.hpp"
#include "memory/pool/size_classes.hpp"

namespace ebb::detail {

class FreeIndex {
 public:
  void insert(Chunk* chunk) noexcept;
  void remove(Chunk* chunk) noexcept;

  // The smallest chunk of at least `bytes`, or null.
  Chunk* find(std::size_t bytes) const noexcept;

  // The first chunk of at least `at_least` bytes that `accept`s, from the largest bin down.
  template <typename Accept>
  Chunk* find_largest(std::size_t at_least, Accept accept) const {
    for (std::size_t bin = kBins; bin-- > bin_of(at_least);) {
      if (!occupied(bin)) continue;
      for (Chunk* chunk = bins_[bin].head; chunk != nullptr; chunk = chunk->list_next)
        if (chunk->bytes >= at_least && accept(chunk)) return chunk;
    }
    return nullptr;
  }

  std::size_t largest() const noexcept;
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t kBins = 704;
  static constexpr int kWalk = 64;

  static std::size_t bin_of(std::size_t bytes) noexcept {
    const std::size_t quanta = bytes / kQuantum;
    if (quanta < 16) return quanta;
    const int exponent = std::bit_width(quanta) - 1;
    return std::size_t(exponent - 3) * 16 + (quanta >> (exponent - 4) & 15);
  }
  bool occupied(std::size_t bin) const noexcept { return map_[bin / 64] >> bin % 64 & 1; }
  std::size_t next_occupied(std::size_t bin) const noexcept;

  std::array<ChunkList, kBins> bins_{};
  std::array<std::uint64_t, kBins / 64> map_{};
  std::size_t bytes_ = 0;
};

}  // namespace ebb::detail
