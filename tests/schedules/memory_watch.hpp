// Ordinary memory, which threads have to pass on to each other: two uses of a byte of which one
// writes, by two threads, are in an order that the clocks know, or it is a race. The compiler calls
// for each use that it compiles under the scheduler (instrumented.cpp); what runs elsewhere, in
// libraries or the kernel, is not seen.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "schedules/clock.hpp"

namespace ebb::schedules {

struct Use {
  std::size_t by;
  bool writes;
  bool atomic;       // conflicts with ordinary writes alone
  const void* code;  // where
};

class MemoryWatch {
 public:
  // The place of an earlier use that this one races with.
  std::optional<const void*> use(const void* at, std::size_t bytes, const Use& how,
                                 const Clock& clock);
  // What is there from now on is something else.
  void forget(const void* at, std::size_t bytes) noexcept;
  void forget_all() noexcept { ++round_; }

 private:
  static constexpr std::size_t kWord = 8, kKept = 8;
  struct Noted {
    Use how;
    std::uint32_t at;
    std::uint8_t bytes;  // a bit for each of the word
  };
  struct Cell {
    std::uintptr_t word = 0;
    std::uint32_t round = 0;
    std::uint32_t count = 0;
    std::array<Noted, kKept> noted;
  };
  Cell& cell(std::uintptr_t word);
  void grow();
  static std::optional<const void*> note(Cell& cell, const Noted& now, const Clock& clock);

  std::vector<Cell> cells_ = std::vector<Cell>(1 << 14);
  std::size_t taken_ = 0;
  std::uint32_t taken_in_ = 0;
  std::uint32_t round_ = 1;
};

}  // namespace ebb::schedules
