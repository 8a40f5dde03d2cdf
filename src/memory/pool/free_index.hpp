// FreeIndex: free chunks by size. Bins, sixteen to a doubling, with a bitmap over them; each is a
// tree of its chunks in order of size, then address, so that the first that fits is the best fit.
//
// The trees are treaps: a chunk is above those with a lower priority, and priorities are hashes of
// the records' addresses. So they are balanced as trees that grew in random order are, whatever the
// program does, and every function takes a time that grows with the logarithm of the bin.
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

  // The largest chunk of at least `at_least` bytes that `accept`s.
  template <typename Accept>
  Chunk* find_largest(std::size_t at_least, Accept accept) const {
    Chunk* chunk = last_before(nullptr);
    while (chunk != nullptr && chunk->bytes >= at_least && !accept(chunk))
      chunk = last_before(chunk);
    return chunk != nullptr && chunk->bytes >= at_least ? chunk : nullptr;
  }

  std::size_t largest() const noexcept;
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t kBins = 704;

  static std::size_t bin_of(std::size_t bytes) noexcept {
    const std::size_t quanta = bytes / kQuantum;
    if (quanta < 16) return quanta;
    const int exponent = std::bit_width(quanta) - 1;
    return std::size_t(exponent - 3) * 16 + (quanta >> (exponent - 4) & 15);
  }
  std::size_t next_occupied(std::size_t bin) const noexcept;
  Chunk* find_in(std::size_t bin, std::size_t bytes) const noexcept;
  // The largest chunk that comes before `limit`; null: of all.
  Chunk* last_before(const Chunk* limit) const noexcept;

  std::array<Chunk*, kBins> roots_{};
  std::array<std::uint64_t, kBins / 64> map_{};
  std::size_t bytes_ = 0;
};

}  // namespace ebb::detail
