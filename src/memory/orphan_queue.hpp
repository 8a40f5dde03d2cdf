// Death notices on their way to the owner.
//
// Any thread pushes, also from inside a garbage collection: a push is one compare-and-swap on the
// slot's mark (memory/notice_mark.hpp) and one exchange on the head; it takes no lock and allocates
// nothing. A notice for a record that has ended is dropped, and so is a second one. A slot is here once,
// whatever notices come, but its record may end, and the next be made there, before it is taken off:
// who takes it off asks the mark (SlotTable::take_off).
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

  // Pre: this is the queue of the table that the name is of.
  Push push(std::uint64_t name) noexcept {
    T* const slot = SlotSpace<T>::mark(name);
    return slot == nullptr ? Push::kDropped : link(*slot);
  }
  // The second step of a push, after SlotSpace::mark.
  Push link(T& slot) noexcept {
    slot.notice_link.store(pending(), std::memory_order_relaxed);
    T* before = head_.exchange(&slot, std::memory_order_acq_rel);
    slot.notice_link.store(before, std::memory_order_release);
    return before == nullptr ? Push::kFirst : Push::kTaken;
  }

  // Takes one slot off, or null. It is still marked as queued: SlotTable::take_off comes next.
  T* pop() noexcept {
    T* slot = chain_.load(std::memory_order_relaxed);
    if (slot == nullptr) {
      if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
      slot = head_.exchange(nullptr, std::memory_order_acq_rel);
      chain_.store(slot, std::memory_order_relaxed);
    }
    T* next = slot->notice_link.load(std::memory_order_acquire);
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
