// Death notices on their way to the owner.
//
// Any thread pushes, also from inside a garbage collection: a push is one compare-and-swap on the
// slot's word and one exchange on the head; it takes no lock, allocates nothing and does not retry.
// The compare-and-swap sets `queued` only while the generation is still the one the notice names,
// so a notice for a record that has ended is dropped, a second notice finds the bit set, and a slot
// that ends while queued is not reused before it has been taken off here.
//
// One thread at a time pops (the owner's lock sees to that). A producer that was interrupted
// between its exchange and its link store leaves its node `pending`; the consumer stops there,
// keeps its place and goes on at the next pop.
#pragma once

#include "ebb/base/atomic.hpp"
#include "memory/slot_table.hpp"

namespace ebb {

template <typename T>
class OrphanQueue {
 public:
  enum class Push : std::uint8_t {
    kDropped,  // the name is stale, or was noticed before
    kTaken,
    kFirst,  // taken, and nothing was waiting before it
  };

  Push push(T& slot, std::uint64_t name) noexcept {
    return mark(slot, name) ? link(slot) : Push::kDropped;
  }
  // The two steps of a push. From the first on the slot stays in its table until it is taken off
  // the queue of that table's owner: who has marked it must link it there.
  static bool mark(T& slot, std::uint64_t name) noexcept {
    auto expected = static_cast<std::uint32_t>(generation_of(name) << 1);
    return slot.word.compare_exchange_strong(expected, expected | 1u, std::memory_order_acq_rel,
                                             std::memory_order_relaxed);
  }
  Push link(T& slot) noexcept {
    slot.link.store(pending(), std::memory_order_relaxed);
    T* before = head_.exchange(&slot, std::memory_order_acq_rel);
    slot.link.store(before, std::memory_order_release);
    return before == nullptr ? Push::kFirst : Push::kTaken;
  }

  // Takes one slot off, or null. The slot is still `queued` and may have ended since.
  T* pop() noexcept {
    T* slot = chain_.load(std::memory_order_relaxed);
    if (slot == nullptr) {
      if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
      slot = head_.exchange(nullptr, std::memory_order_acq_rel);
      chain_.store(slot, std::memory_order_relaxed);
    }
    T* next = slot->link.load(std::memory_order_acquire);
    if (next == pending()) return nullptr;
    chain_.store(next, std::memory_order_relaxed);
    return slot;
  }

  // Empties it without touching what was in it. Pre: no other thread.
  void forget() noexcept {
    head_.store(nullptr, std::memory_order_relaxed);
    chain_.store(nullptr, std::memory_order_relaxed);
  }

  // Whether something waits: exact for the consumer, a hint on any other thread. Also true for what
  // is left behind a pending node, or nobody would come back for it.
  bool noticed() const noexcept {
    return head_.load(std::memory_order_relaxed) != nullptr ||
           chain_.load(std::memory_order_relaxed) != nullptr;
  }

 private:
  static T* pending() noexcept { return reinterpret_cast<T*>(std::uintptr_t{1}); }

  atomic<T*> head_{nullptr};
  atomic<T*> chain_{nullptr};  // taken, newest first, not yet popped; the consumer's
};

}  // namespace ebb
