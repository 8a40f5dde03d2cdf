// Reclaim: from death notices to memory that is back.
//
// A notice (`orphan`) may come on any thread, inside a collection: it only goes onto the orphan
// queue. The queue is emptied at safe points, on the calling thread, in batches: under the lock
// tensors are ended and their slots freed; after it blocks go to their pools and foreign tensors to
// their host.
//
// Two kinds of safe point. Any birth in Ebb's own memory drains Ebb's own orphans, for an operation
// holds a reference on each of its operands by then. Another runtime's orphans wait for
// safe_point(), where the host promises that no kernel of its own is running: its engine may see an
// operand as dead while the kernel still reads it. What is not given back yet waits in a list, so
// that a dispose or the end of its region can take it out again, and so that switching reclaim on
// later finds it.
#include <algorithm>
#include <mutex>

#include "ebb/tensor/context.hpp"
#include "tensor/context_body.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

std::atomic<bool> reclaim_on{false};

constexpr int kMostNotices = 256;  // taken in one go under the lock

}  // namespace

void set_reclaim(bool on) noexcept { reclaim_on.store(on, std::memory_order_relaxed); }
bool reclaiming() noexcept { return reclaim_on.load(std::memory_order_relaxed); }

Drained& Drained::operator+=(const Drained& other) noexcept {
  tensors += other.tensors;
  bytes += other.bytes;
  collections += other.collections;
  return *this;
}

void ContextBody::orphan(Handle handle) noexcept {
  using Space = SlotSpace<TensorRecord>;
  const std::uint64_t generation = generation_of(handle);
  if ((generation & 1u) == 0 || generation > kLastGeneration) return;
  auto* table = static_cast<Records*>(Space::instance().table_of(handle));
  if (table == nullptr) return;
  // Where the push succeeds the record is live, so its context is still the one found above.
  ContextBody& context = table->context;
  const auto pushed = context.orphans_.push(*Space::instance().find_slot(handle), handle);
  if (pushed == OrphanQueue<TensorRecord>::Push::kFirst) {
    context.first_notice_.store(steady_ns(), std::memory_order_relaxed);
  }
}

WaitingList& ContextBody::waiting_list_of(const TensorRecord& record) noexcept {
  return record.storage->block.data == nullptr ? waiting_foreign_ : waiting_own_;
}

void ContextBody::leave_waiting(TensorRecord& record) noexcept {
  waiting_list_of(record).remove(record);
  record.flags &= static_cast<std::uint8_t>(~TensorRecord::kWaiting);
  waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

// A record just taken off the queue that is not given back now.
void ContextBody::notice(TensorRecord& record) noexcept {
  if (!record.live()) {
    --undead_;
    records_.recycle(record);
  } else if (record.has(TensorRecord::kHold)) {  // a forged notice: holds have no host object
    record.word.fetch_and(~1u, std::memory_order_relaxed);
  } else {
    record.flags |= TensorRecord::kWaiting;
    waiting_list_of(record).push(record);
    const std::uint64_t waiting = waiting_.load(std::memory_order_relaxed) + 1;
    waiting_.store(waiting, std::memory_order_relaxed);
    peak_orphans_ = std::max(peak_orphans_, waiting);
  }
}

void ContextBody::take_notices() noexcept {
  while (TensorRecord* record = orphans_.pop()) notice(*record);
}

TensorRecord* ContextBody::next_waiting(Scope scope) const noexcept {
  if (waiting_own_.first() != nullptr) return waiting_own_.first();
  return scope == Scope::kAll ? waiting_foreign_.first() : nullptr;
}

Drained ContextBody::drain_batch(ContextId id, Scope scope, bool& more) {
  more = false;
  ManyEnds batch;
  Lock lock(lock_);
  if (!serves(id)) return {};  // what is left ends with its context
  const bool giving = reclaiming();
  TensorRecord* record = nullptr;
  int taken = 0;
  while (!batch.full() && taken < kMostNotices && (record = orphans_.pop()) != nullptr) {
    ++taken;
    const bool ends = giving && record->live() && !record->has(TensorRecord::kHold) &&
                      (scope == Scope::kAll || record->storage->block.data != nullptr);
    if (ends) {
      record->flags |= TensorRecord::kDequeued;
      end(*record, Reason::kReclaimed, batch);
    } else {
      notice(*record);
    }
  }
  while (giving && !batch.full() && (record = next_waiting(scope)) != nullptr) {
    end(*record, Reason::kReclaimed, batch);
  }
  more = batch.full() || taken == kMostNotices;
  carry_out(lock, batch);
  return batch.drained();
}

void ContextBody::carry_out(Lock& lock, EndBatch& batch) {
  if (!batch.tells_host()) {
    lock.unlock();
    return batch.carry_out(nullptr);
  }
  Visit visit(*this, lock, Visit::Purpose::kTellEnds);
  Host* const host = host_;
  lock.unlock();
  batch.carry_out(host);
}

// Foreign tensors end on the host's thread. A safe point inside `end` may drain, one inside that
// one's `end` leaves the rest to the drains it is in: however many there are, the stack is not.
Drained ContextBody::drain(ContextId id, Scope scope) {
  if (scope == Scope::kAll && (!on_host_thread() || Visit::telling_ends_of(*this) > 1)) {
    scope = Scope::kOwn;
  }
  const std::uint64_t first = first_notice_.exchange(0, std::memory_order_relaxed);
  Drained drained;
  for (bool more = true; more;) drained += drain_batch(id, scope, more);
  if (first != 0 && drained.tensors != 0) note_lag(first, drained.tensors);
  return drained;
}

void ContextBody::note_lag(std::uint64_t first_notice, std::uint64_t tensors) noexcept {
  const std::uint64_t lag = steady_ns() - first_notice;
  std::lock_guard guard(lock_);
  lag_last_ns_ = lag;
  lag_max_ns_ = std::max(lag_max_ns_, lag);
  peak_orphans_ = std::max(peak_orphans_, tensors);
}

}  // namespace ebb
