#include "schedules/memory_watch.hpp"

#include <utility>

namespace ebb::schedules {
namespace {

bool conflict(const Use& a, const Use& b) noexcept {
  return a.by != b.by && (a.writes || b.writes) && !(a.atomic && b.atomic);
}

// The bits of [first, first + bytes) within the word that begins at `word`.
std::uint8_t mask_of(std::uintptr_t word, std::uintptr_t first, std::uintptr_t end) noexcept {
  unsigned mask = 0;
  for (unsigned i = 0; i < 8; ++i) mask |= word + i >= first && word + i < end ? 1u << i : 0u;
  return static_cast<std::uint8_t>(mask);
}

}  // namespace

// By linear probing; what is of an earlier round is free.
MemoryWatch::Cell& MemoryWatch::cell(std::uintptr_t word) {
  if (taken_in_ != round_) taken_ = 0;
  taken_in_ = round_;
  if (taken_ * 2 > cells_.size()) grow();
  std::size_t i = (word / kWord * 0x9E3779B97F4A7C15u) >> 20;
  while (true) {
    Cell& found = cells_[i % cells_.size()];
    if (found.round == round_ && found.word == word) return found;
    if (found.round != round_) {
      found.word = word;
      found.round = round_;
      found.count = 0;
      ++taken_;
      return found;
    }
    ++i;
  }
}

void MemoryWatch::grow() {
  const std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(cells_.size() * 2));
  taken_ = 0;
  for (const Cell& each : old) {
    if (each.round == round_) cell(each.word) = each;
  }
}

std::optional<const void*> MemoryWatch::note(Cell& cell, const Noted& now, const Clock& clock) {
  std::size_t place =
      cell.count < kKept ? cell.count : 0;  // a word with many ways of use: the first goes
  for (std::size_t i = 0; i < cell.count; ++i) {
    const Noted& before = cell.noted[i];
    if ((before.bytes & now.bytes) == 0) continue;
    if (conflict(before.how, now.how) && clock[before.how.by] < before.at) return before.how.code;
    if (before.how.by == now.how.by && before.how.writes == now.how.writes &&
        before.how.atomic == now.how.atomic && before.bytes == now.bytes)
      place = i;
  }
  cell.noted[place] = now;
  if (place == cell.count) ++cell.count;
  return std::nullopt;
}

std::optional<const void*> MemoryWatch::use(const void* at, std::size_t bytes, const Use& how,
                                            const Clock& clock) {
  const auto first = reinterpret_cast<std::uintptr_t>(at), end = first + bytes;
  for (std::uintptr_t word = first - first % kWord; word < end; word += kWord) {
    const Noted now{how, clock[how.by], mask_of(word, first, end)};
    if (const auto race = note(cell(word), now, clock)) return race;
  }
  return std::nullopt;
}

void MemoryWatch::forget(const void* at, std::size_t bytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(at), end = first + bytes;
  for (std::uintptr_t word = first - first % kWord; word < end; word += kWord) {
    cell(word).count = 0;
  }
}

}  // namespace ebb::schedules
