// Death notices on their way to the owner.
//
// Any thread pushes, also from inside a garbage collection: a push is one compare-and-swap on the
// slot's mark (memory/notice_mark.hpp) and one on the head; it takes no lock and allocates nothing. A
// notice for a record that has ended is dropped, and so is a second one. A slot is here once, whatever
// notices come, but its record may end, and the next be made there, before it is taken off: who takes it
// off asks the mark (SlotTable::take_off).
//
// One thread at a time pops (the owner's lock sees to that). A slot has its link before it is in the
// queue, so a producer that is interrupted, wherever that is, keeps the consumer from nothing but its own
// slot. The consumer takes all that there is at once, so it does not matter that a head which a producer
// has seen was taken and has come back meanwhile.
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
    T* before = head_.load(std::memory_order_relaxed);
    do {
      slot.notice_link.store(before, std::memory_order_relaxed);
    } while (!head_.compare_exchange_strong(before, &slot, std::memory_order_release,
                                            std::memory_order_relaxed));
    return before == nullptr ? Push::kFirst : Push::kTaken;
  }

  // Takes one slot off, or null. It is still marked as queued: SlotTable::take_off comes next.
  T* pop() noexcept {
    T* slot = chain_.load(std::memory_order_relaxed);
    if (slot == nullptr) {
      if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
      slot = head_.exchange(nullptr, std::memory_order_acquire);
    }
    chain_.store(slot->notice_link.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return slot;
  }

  // Empties it without touching what was in it. Pre: no other thread.
  void forget() noexcept {
    head_.store(nullptr, std::memory_order_relaxed);
    chain_.store(nullptr, std::memory_order_relaxed);
  }

  // Whether something waits: exact for the consumer, a hint on any other thread.
  bool noticed() const noexcept {
    return head_.load(std::memory_order_relaxed) != nullptr ||
           chain_.load(std::memory_order_relaxed) != nullptr;
  }

 private:
  atomic<T*> head_{nullptr};
  atomic<T*> chain_{nullptr};  // taken, newest first, not yet popped; the consumer's
};

}  // namespace ebb
