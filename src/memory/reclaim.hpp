// Noticed records, from the notice until they end.
//
// A notice goes onto a lock-free queue (OrphanQueue). The owner takes it off under its lock, and
// either ends the record at once or keeps it: because reclaim is off, or because it is another
// runtime's and the host has not come to a safe point. What is kept is in one of two lists, doubly
// linked, so that a record that ends another way is taken out at once and nothing piles up.
//
// For each list and for the queue it is known since when the oldest in it waits, or longer: that is
// the lag of whoever gives it back. What moves from the queue to a list takes its time along.
//
// T is a SlotHeader with an `atomic<T*> notice_link`: the next in the queue, or the one before it in a
// list, which is off the queue and whose further notices are dropped. Threads: notice() on any, noticed() and waiting() as
// hints on any, everything else under the owner's lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "memory/clock.hpp"
#include "memory/orphan_queue.hpp"

namespace ebb {

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

template <typename T>
class WaitingList {
 public:
  void push(T& record, std::uint64_t since) noexcept {
    set_before(record, nullptr);
    record.link = first_;
    if (first_ != nullptr) set_before(*first_, &record);
    first_ = &record;
    since_ = std::min(since_, since);
  }
  void remove(T& record) noexcept {
    T* const next = record.link;
    T* const before = record.notice_link.load(std::memory_order_relaxed);
    if (next != nullptr) set_before(*next, before);
    if (before != nullptr) {
      before->link = next;
    } else if ((first_ = next) == nullptr) {
      since_ = kNever;
    }
  }
  T* first() const noexcept { return first_; }
  std::uint64_t since() const noexcept { return since_; }

 private:
  static void set_before(T& record, T* before) noexcept {
    record.notice_link.store(before, std::memory_order_relaxed);
  }

  T* first_ = nullptr;
  std::uint64_t since_ = kNever;
};

template <typename T>
class Reclaim {
 public:
  // Pre: the notice has marked it, and the record is of this owner's table.
  void notice(T& slot) noexcept {
    if (queue_.link(slot) == OrphanQueue<T>::Push::kFirst) {
      first_notice_.store(steady_ns(), std::memory_order_relaxed);
    }
  }
  bool noticed() const noexcept { return queue_.noticed(); }
  std::uint64_t waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }

  // In the child of a fork, where those that were linking their notices are gone: whatever is marked
  // as queued has to be noticed again. Pre: no other thread.
  void forget_queue() noexcept { queue_.forget(); }

  // The next slot off the queue; null: none has come. Its record may have ended since.
  T* pop() noexcept {
    if (first_notice_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      queue_since_ = std::min(queue_since_, first_notice_.exchange(0, std::memory_order_relaxed));
    T* record = queue_.pop();
    if (record == nullptr && !queue_.noticed()) queue_since_ = kNever;
    return record;
  }
  // Since when what pop() gave has waited; kNever: its notice came this moment.
  std::uint64_t popped_since() const noexcept { return queue_since_; }

  // What pop() gave, and does not end now.
  void keep(T& record, bool foreign) noexcept {
    list(foreign).push(record, queue_since_);
    const std::uint64_t waiting = this->waiting() + 1;
    waiting_.store(waiting, std::memory_order_relaxed);
    peak_ = std::max(peak_, waiting);
  }
  // What is kept ends.
  void withdraw(T& record, bool foreign) noexcept {
    list(foreign).remove(record);
    waiting_.store(waiting() - 1, std::memory_order_relaxed);
  }
  T* first_kept(bool foreign) noexcept { return list(foreign).first(); }
  std::uint64_t kept_since(bool foreign) noexcept { return list(foreign).since(); }

  // So many have been given back, the oldest of which had waited since then.
  void given_back(std::uint64_t count, std::uint64_t since) noexcept {
    peak_ = std::max(peak_, count);
    if (since == kNever) return;
    lag_last_ns_ = steady_ns() - since;
    lag_max_ns_ = std::max(lag_max_ns_, lag_last_ns_);
  }
  std::uint64_t peak() const noexcept { return peak_; }
  std::uint64_t lag_last_ns() const noexcept { return lag_last_ns_; }
  std::uint64_t lag_max_ns() const noexcept { return lag_max_ns_; }
  // Pre: nothing waits.
  void restart() noexcept {
    peak_ = lag_last_ns_ = lag_max_ns_ = 0;
    queue_since_ = kNever;
    first_notice_.store(0, std::memory_order_relaxed);
  }

 private:
  WaitingList<T>& list(bool foreign) noexcept { return kept_[foreign ? 1 : 0]; }

  OrphanQueue<T> queue_;
  std::array<WaitingList<T>, 2> kept_;  // Ebb's own, foreign
  std::atomic<std::uint64_t> waiting_{0};
  std::atomic<std::uint64_t> first_notice_{0};  // that made the queue's head; 0: taken
  std::uint64_t queue_since_ = kNever;
  std::uint64_t peak_ = 0;
  std::uint64_t lag_last_ns_ = 0, lag_max_ns_ = 0;
};

}  // namespace ebb
