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

void ContextBody::take_notices(Lock& lock) noexcept {
  while (handles_.take_notices(kMostNotices)) {
    lock.unlock();
    lock.lock();
  }
}

// Ends what waits in a list.
void ContextBody::end_kept(bool foreign, EndBatch& batch, std::uint64_t& since) noexcept {
  since = std::min(since, handles_.orphans().kept_since(foreign));
  while (!batch.full()) {
    TensorRecord* record = handles_.orphans().first_kept(foreign);
    if (record == nullptr) return;
    end(*record, Reason::kReclaimed, batch);
  }
}

Drained ContextBody::drain_batch(ContextId id, Scope scope, bool& more) {
  more = false;
  ManyEnds batch;
  Lock lock(lock_);
  if (!serves(id)) return {};  // what is left ends with its context
  const bool giving = reclaiming();
  std::uint64_t since = kNever;
  TensorRecord* record = nullptr;
  int taken = 0;
  while (!batch.full() && taken < kMostNotices && (record = handles_.orphans().pop()) != nullptr) {
    ++taken;
    if (!handles_.take_off(*record)) continue;
    const bool ends = giving && !record->has(TensorRecord::kHold) &&
                      (scope == Scope::kAll || !record->storage->foreign());
    if (ends) {
      since = std::min(since, handles_.orphans().popped_since());
      end(*record, Reason::kReclaimed, batch);
    } else {
      handles_.keep(*record);
    }
  }
  if (giving) {
    end_kept(false, batch, since);
    if (scope == Scope::kAll) end_kept(true, batch, since);
    if (batch.drained().tensors != 0) handles_.orphans().given_back(batch.drained().tensors, since);
  }
  more = batch.full() || taken == kMostNotices;
  if (batch.frees()) {
    drains_begun_.store(drains_begun_.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    batch.count_back_in(drains_done_);
  }
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

// Whether all that was taken off the queue is in its pools again. Right after a drain of the caller's own:
// the lock of that one shows what began before. In this order, or the end of a later drain would stand
// for that of an earlier one.
bool ContextBody::drains_are_done() const noexcept {
  const std::uint64_t done = drains_done_.load(std::memory_order_acquire);
  return done >= drains_begun_.load(std::memory_order_relaxed);
}

// Foreign tensors end on the host's thread. A safe point inside `end` may drain, one inside that
// one's `end` leaves the rest to the drains it is in: however many there are, the stack is not.
Drained ContextBody::drain(ContextId id, Scope scope) {
  if (scope == Scope::kAll && (!on_host_thread() || Visit::telling_ends_of(*this) > 1)) {
    scope = Scope::kOwn;
  }
  Drained drained;
  for (bool more = true; more;) drained += drain_batch(id, scope, more);
  return drained;
}

}  // namespace ebb
