// A lock for what one thread uses nearly all the time. That thread, the owner, takes it without a
// locked operation: it says that it is inside, and looks whether it still is the owner. Any other
// takes the shared lock below it and ends the ownership: it says so, has a barrier run on the owner's
// processor (base/process_barrier.hpp), which takes microseconds, and waits until the owner is not
// inside. From then on all take the shared lock, until one thread has taken it many times in a row.
// How many is four times as many after an ownership that ended soon, and a fourth after one that was
// worth the barrier: threads that take turns pay next to nothing.
//
// Whether a thread is inside is said in a place of its own in each lock, because one that was the
// owner may be slow to see that it is not any more. There are places for a few threads, given out
// process-wide and free again when the thread ends; with its place the next thread has the locks that
// it owned. A thread that finds none asks again after its next streak; until then it is no owner.
//
// Not recursive. Where the system has no such barrier nobody is an owner. Forks: whoever forks has
// taken all the locks, and the shared ones below them; in the child it has the only place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/process_barrier.hpp"
#include "ebb/base/atomic.hpp"
#include "ebb/base/spin_lock.hpp"

namespace ebb {

class BiasedLock {
 public:
  static constexpr std::uint32_t kFirstStreak = 256;  // makes an owner, at first
  static constexpr std::uint32_t kLongestStreak = 1u << 17;
  // That often an owner must have taken it for what a barrier costs.
  static constexpr std::uint32_t kWorthIt = 2048;

  BiasedLock() = default;
  explicit BiasedLock(std::uint32_t streak) noexcept : needed_(streak) {}

  void lock() noexcept {
    if (enter_as_owner()) [[likely]]
      return;
    shared_.lock();
    entered();
  }
  // Waits, if at all, for an owner that is inside, and becomes none.
  bool try_lock() noexcept {
    if (enter_as_owner()) return true;
    if (!shared_.try_lock()) return false;
    entered();
    return true;
  }
  void unlock() noexcept {
    if (held_from_ != kNobody) [[likely]] {
      inside_[held_from_].store(false, std::memory_order_release);
    } else {
      shared_.unlock();
    }
  }
  // By whoever has it: what it guards is another thing from now on, and so are those who use it.
  void forget_streaks() noexcept {
    streak_ = 0;
    needed_ = kFirstStreak;
  }
  // Before a fork, whose child has nobody else: not as the owner, or a thread that ends the ownership just
  // then would have the shared lock there for ever.
  void lock_for_fork() noexcept {
    shared_.lock();
    entered();
  }
  // In the child of a fork, whose thread has the lock.
  void forget_waiters() noexcept { shared_.forget_waiters(); }
  // For tests that watch locks: whether threads become owners from now on.
  static void allow_owners(bool allowed) noexcept;
  // Whether the calling thread takes it without a locked operation. A hint.
  bool is_owner() const noexcept { return owner_.load(std::memory_order_relaxed) == thread_place; }

 private:
  using Place = std::uint8_t;
  static constexpr std::size_t kPlaces = 32;     // 1 to 31 are given out
  static constexpr Place kNone = 0;              // the thread has not needed one, or found none
  static constexpr Place kLeaving = kPlaces;     // it ends, and is given none any more
  static constexpr Place kNobody = kPlaces + 1;  // no thread's place
  friend class ThreadPlaces;
  static constinit thread_local Place thread_place;

  bool enter_as_owner() noexcept {
    const Place mine = thread_place;
    if (owner_.load(std::memory_order_relaxed) != mine) return false;
    inside_[mine].store(true, std::memory_order_relaxed);
    quiet_barrier();
    if (owner_.load(std::memory_order_relaxed) != mine) [[unlikely]] {
      inside_[mine].store(false, std::memory_order_release);
      return false;
    }
    held_from_ = mine;
    ++streak_;
    return true;
  }
  // The rest of taking it, the shared lock being taken.
  void entered() noexcept {
    if (owner_.load(std::memory_order_relaxed) != kNobody) [[unlikely]]
      end_ownership();
    held_from_ = kNobody;  // only now is nobody else inside
    if (last_ == &thread_place && ++streak_ < needed_) [[likely]]
      return;
    look_at_streak();
  }
  void end_ownership() noexcept;
  void look_at_streak() noexcept;

  // Two cache lines: what is written when the owner changes, and by the owner; what everybody writes
  // who takes the lock.
  alignas(64) atomic<Place> owner_{kNobody};    // changed by whoever has the shared lock
  std::array<atomic<bool>, kPlaces> inside_{};  // by place, each written by its thread alone
  alignas(64) SpinLock shared_;
  // Of whoever has the lock.
  Place held_from_ = kNobody;            // the owner's, where the owner has taken it
  std::uint32_t streak_ = 0;             // how often in a row the last thread has taken it
  std::uint32_t needed_ = kFirstStreak;  // as often makes it the owner
  const Place* last_ = nullptr;          // that thread's; names it as long as the streak goes on
};

}  // namespace ebb
