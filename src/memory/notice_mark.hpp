// What death notices leave at a slot, apart from the slot itself: for which of its records the last one
// came, and whether the slot is in the orphan queue, or on its way there.
//
// The owner of a record makes and ends it with plain stores, and looks at no mark. So a record may end,
// and its slot have the next, while the slot is in the queue: whoever takes it off compares the two
// generations. What must not be is a slot that is in the queue twice, or in the queue of a table that it
// is not in any more. For the first the `queued` bit has one owner: the notice that has set it, until it
// has linked the slot or taken the bit back, and then whoever takes the slot off the queue. For the
// second a notice looks once more whether the record lives, now that it is marked, and a table gives a
// slot away only when all its records have ended and, after a barrier, it is not queued: either the
// notice sees the end, or the table the mark (memory/README.md has it all).
//
// Never zeroed while a slot has its place, not even when the memory of the records goes: a notice that
// is late may be between its steps.
#pragma once

#include <cstdint>

#include "ebb/base/atomic.hpp"

namespace ebb {

class NoticeMark {
 public:
  bool queued() const noexcept { return (word_.load(std::memory_order_relaxed) & kQueued) != 0; }
  // Whether a notice came for the record of that generation.
  bool is_for(std::uint32_t generation) const noexcept {
    return word_.load(std::memory_order_relaxed) >> 1 == generation;
  }

  // ---- of a notice, on any thread

  // True: the slot was not queued, and is by the caller now. Tries again only where another notice for
  // the slot, or a drain, came in between.
  bool set(std::uint32_t generation) noexcept {
    const std::uint32_t marked = generation << 1 | kQueued;
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen >> 1 >= generation) return false;
    } while (!word_.compare_exchange_strong(seen, marked, std::memory_order_seq_cst));
    return (seen & kQueued) == 0;
  }
  // After that: whether the record that is marked lives. Then the caller links the slot, which stays in
  // its table until it is taken off the queue. False: the slot is not queued any more. A notice for a
  // later record may have left its mark meanwhile and relies on the caller.
  bool is_of_living(const atomic<std::uint32_t>& now, std::uint32_t generation) noexcept {
    std::uint32_t marked = generation << 1 | kQueued;
    while (now.load(std::memory_order_seq_cst) != marked >> 1) {
      if (word_.compare_exchange_strong(marked, marked & ~kQueued, std::memory_order_acquire))
        return false;
    }
    return true;
  }

  // ---- of the owner, under its lock

  // The slot has been taken off the queue. Whether a notice came for the record that it has now, of
  // that generation: such a mark is nobody's to change but the owner's.
  bool take_off(std::uint32_t generation) noexcept {
    const std::uint32_t marked = word_.load(std::memory_order_acquire);
    if (marked >> 1 == generation) {
      word_.store(marked & ~kQueued, std::memory_order_release);
      return true;
    }
    return word_.fetch_and(~kQueued, std::memory_order_acq_rel) >> 1 == generation;
  }
  // As if no notice had come. Pre: is_for() the record that the slot has, or no other thread.
  void forget() noexcept { word_.store(0, std::memory_order_release); }

 private:
  static constexpr std::uint32_t kQueued = 1;

  atomic<std::uint32_t> word_{0};  // generation << 1 | queued
};

}  // namespace ebb
