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
#include <bit>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "ebb/tensor/context.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/context_state.hpp"
#include "tensor/end_batch.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

std::atomic<bool> reclaim_on{false};

constexpr int kMostNotices = 256;  // taken in one go under the lock
constexpr auto kPeerWait = std::chrono::milliseconds(100);
constexpr auto kClimbWait = std::chrono::seconds(1);

}  // namespace

void set_reclaim(bool on) noexcept { reclaim_on.store(on, std::memory_order_relaxed); }
bool reclaiming() noexcept { return reclaim_on.load(std::memory_order_relaxed); }

Drained& Drained::operator+=(const Drained& other) noexcept {
  tensors += other.tensors;
  bytes += other.bytes;
  collections += other.collections;
  return *this;
}

void Context::orphan(Handle handle) noexcept {
  using Space = SlotSpace<TensorRecord>;
  const std::uint64_t generation = generation_of(handle);
  if ((generation & 1u) == 0 || generation > kLastGeneration) return;
  auto* table = static_cast<Records*>(Space::instance().table_of(handle));
  if (table == nullptr) return;
  // Where the push succeeds the record is live, so its context is still the one found above.
  Context& context = table->context;
  const auto pushed = context.orphans_.push(*Space::instance().find_slot(handle), handle);
  if (pushed == OrphanQueue<TensorRecord>::Push::kFirst) {
    context.first_notice_.store(steady_ns(), std::memory_order_relaxed);
  }
}

WaitingList& Context::waiting_list_of(const TensorRecord& record) noexcept {
  return record.storage->block.data == nullptr ? waiting_foreign_ : waiting_own_;
}

void Context::leave_waiting(TensorRecord& record) noexcept {
  waiting_list_of(record).remove(record);
  record.flags &= static_cast<std::uint8_t>(~TensorRecord::kWaiting);
  waiting_.store(waiting_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

// A record just taken off the queue that is not given back now.
void Context::notice(TensorRecord& record) noexcept {
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

void Context::take_notices() noexcept {
  while (TensorRecord* record = orphans_.pop()) notice(*record);
}

TensorRecord* Context::next_waiting(Scope scope) const noexcept {
  if (waiting_own_.first() != nullptr) return waiting_own_.first();
  return scope == Scope::kAll ? waiting_foreign_.first() : nullptr;
}

Drained Context::drain_batch(Scope scope, bool& more) {
  ManyEnds batch;
  std::unique_lock lock(lock_);
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

void Context::carry_out(Lock& lock, EndBatch& batch) {
  if (!batch.tells_host()) {
    lock.unlock();
    return batch.carry_out(nullptr);
  }
  Visit visit(*this, lock);
  Host* const host = host_;
  lock.unlock();
  batch.carry_out(host);
}

Drained Context::drain(Scope scope) {
  const std::uint64_t first = first_notice_.exchange(0, std::memory_order_relaxed);
  Drained drained;
  for (bool more = true; more;) drained += drain_batch(scope, more);
  if (first != 0 && drained.tensors != 0) note_lag(first, drained.tensors);
  return drained;
}

void Context::note_lag(std::uint64_t first_notice, std::uint64_t tensors) noexcept {
  const std::uint64_t lag = steady_ns() - first_notice;
  std::lock_guard guard(lock_);
  lag_last_ns_ = lag;
  lag_max_ns_ = std::max(lag_max_ns_, lag);
  peak_orphans_ = std::max(peak_orphans_, tensors);
}

// ---- the ladder

// One climb at a time in a context. Inside a collection, on the same thread, there is no second
// one; a second thread waits for the first to come back, for what that found may be enough.
class Context::ClimbScope {
 public:
  explicit ClimbScope(Context& context) : context_(context) {
    const auto me = std::this_thread::get_id();
    const auto until = std::chrono::steady_clock::now() + kClimbWait;
    for (std::thread::id nobody{}; !context_.climbing_.compare_exchange_strong(nobody, me);
         nobody = {}) {
      if (nobody == me || std::chrono::steady_clock::now() > until) return;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    std::unique_lock lock(context_.lock_);
    if (context_.closed_) {  // its host may be gone
      context_.climbing_.store(std::thread::id());
    } else {
      visit_.emplace(context_, lock);
    }
  }
  ~ClimbScope() {
    if (entered()) context_.climbing_.store(std::thread::id());
  }
  ClimbScope(const ClimbScope&) = delete;
  ClimbScope& operator=(const ClimbScope&) = delete;
  bool entered() const noexcept { return visit_.has_value(); }

 private:
  Context& context_;
  std::optional<Visit> visit_;
};

// Room in one of Ebb's own pools.
class Context::OwnLadder final : public Ladder {
 public:
  OwnLadder(Context& context, Device& device, std::uint64_t bytes, StreamId stream)
      : context_(context), device_(device), bytes_(bytes), stream_(stream) {}

  bool fits() override {
    if (!block) block = device_.pool().allocate(bytes_, stream_);
    return static_cast<bool>(block);
  }
  std::uint64_t drain() override { return context_.drain(Scope::kOwn).bytes; }
  std::uint64_t collect(Collection kind) override { return context_.run_collector(kind); }
  void ask_others() override { asked_ = context_.ask_others(device_); }
  void wait_pending() override {
    device_.pool().wait_pending();
    const auto until = std::chrono::steady_clock::now() + kPeerWait;
    while (asked_ && !fits() && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  Block block;

 private:
  Context& context_;
  Device& device_;
  const std::uint64_t bytes_;
  const StreamId stream_;
  bool asked_ = false;
};

// Room in another runtime's memory: as booked under its budget, or, where `wanted` is set, as much
// as that given back.
class Context::ForeignLadder final : public Ladder {
 public:
  ForeignLadder(Context& context, Device* device, std::uint64_t upcoming, std::uint64_t wanted = 0)
      : context_(context), device_(device), upcoming_(upcoming), wanted_(wanted) {}

  bool fits() override {
    if (wanted_ != 0) return drained.bytes >= wanted_;
    return device_ != nullptr && !device_->over_budget(upcoming_);
  }
  std::uint64_t drain() override {
    const Drained more = context_.drain(Scope::kAll);
    drained += more;
    return more.bytes;
  }
  std::uint64_t collect(Collection kind) override {
    ++drained.collections;
    return context_.run_collector(kind);
  }
  void ask_others() override {
    if (device_ != nullptr) context_.ask_others(*device_);
  }

  Drained drained;

 private:
  Context& context_;
  Device* device_;
  const std::uint64_t upcoming_;
  const std::uint64_t wanted_;
};

Block Context::allocate(const TensorSpec& spec, std::uint64_t bytes) {
  Device& device = *spec.device;
  if (Block block = device.pool().allocate(bytes, spec.stream)) [[likely]]
    return block;
  OwnLadder ladder(*this, device, bytes, spec.stream);
  if (climb(ladder, Stake::kMustFit, device.budget())) return ladder.block;
  raise_out_of_memory(device, bytes, "make");
}

bool Context::may_collect() const {
  return reclaiming() && host_ != nullptr && host_->can_collect();
}

bool Context::climb(Ladder& ladder, Stake stake, std::uint64_t budget) {
  ClimbScope scope(*this);
  if (!scope.entered()) return ladder.fits();
  Governor::Request request{.stake = stake, .budget = budget};
  {
    std::lock_guard guard(lock_);
    request.born = born_bytes_;
  }
  request.can_collect = may_collect();
  return governor_->climb(ladder, request);
}

std::uint64_t Context::run_collector(Collection kind) {
  const std::uint64_t start = steady_ns();
  std::uint64_t cost = host_->collect(kind);
  if (cost == 0) cost = std::max<std::uint64_t>(steady_ns() - start, 1);
  if (trace::on()) {
    trace::record({.id = cost, .kind = kCollected, .detail = static_cast<std::uint16_t>(kind)});
  }
  return cost;
}

// True if another context has anything on the device, and so was asked to collect.
bool Context::ask_others(const Device& device) {
  bool asked = false;
  ContextRegistry::instance().for_each([&](Context& other) {
    if (&other == this) return;
    std::lock_guard guard(other.lock_);
    if (other.closed_ || other.ledger(device).books().storages.bytes == 0) return;
    other.asked_.store(true, std::memory_order_relaxed);
    asked = true;
  });
  return asked && reclaiming();
}

// ---- safe points

Drained Context::safe_point(Device* device, std::uint64_t upcoming) {
  Drained drained;
  const bool on = reclaiming();
  if (orphans_.noticed() || (on && waiting_.load(std::memory_order_relaxed) != 0)) {
    drained += drain(Scope::kAll);
  }
  if (!on) return drained;
  if (asked_.load(std::memory_order_relaxed) && asked_.exchange(false)) {
    drained += collect(Collection::kMajor, true);
  }
  if (device != nullptr) {
    if (device->foreign()) keep_under_budget(*device, upcoming, drained);
    return drained;
  }
  std::uint32_t devices = foreign_devices_.load(std::memory_order_relaxed);
  for (; devices != 0; devices &= devices - 1) {
    Device* each = Device::find(static_cast<DeviceId>(std::countr_zero(devices)));
    if (each != nullptr) keep_under_budget(*each, upcoming, drained);
  }
  return drained;
}

void Context::keep_under_budget(Device& device, std::uint64_t upcoming, Drained& drained) {
  // The host seldom knows what its next kernel makes; often it is like the last. That is a guess:
  // collections are tried for it, but nothing is said or thrown.
  const std::uint64_t guessed =
      std::max(upcoming, shard(device).last_birth.load(std::memory_order_relaxed));
  if (!device.over_budget(guessed)) return back_under_budget(device);
  Lock lock(lock_);
  if (closed_) return;
  Visit visit(*this, lock);
  lock.unlock();
  const bool over = device.over_budget(upcoming);
  const bool hard = over && device.mode() == BudgetMode::kHard;
  ForeignLadder ladder(*this, &device, hard ? upcoming : guessed);
  const bool fits = climb(ladder, hard ? Stake::kMustFit : Stake::kBudget, device.budget());
  drained += ladder.drained;
  if (fits) return;
  if (hard) raise_out_of_memory(device, upcoming, "safe_point");
  if (!governor_->overrun()) return;
  overrun_devices_.fetch_or(1u << device.id(), std::memory_order_relaxed);
  if (device.over_budget(upcoming)) warn_overrun(device);
}

// The overrun is over when the last device that was in one is below its budget.
void Context::back_under_budget(const Device& device) {
  const std::uint32_t bit = 1u << device.id();
  if ((overrun_devices_.load(std::memory_order_relaxed) & bit) == 0) [[likely]]
    return;
  if ((overrun_devices_.fetch_and(~bit, std::memory_order_relaxed) & ~bit) == 0) {
    governor_->recovered();
  }
}

Drained Context::collect(Collection kind, bool rationed) {
  ForeignLadder ladder(*this, nullptr, 0);
  ladder.drain();
  ClimbScope scope(*this);
  if (!scope.entered()) return ladder.drained;
  std::uint64_t born = 0;
  {
    std::lock_guard guard(lock_);
    born = born_bytes_;
  }
  if (may_collect()) governor_->collect(ladder, kind, rationed, born);
  return ladder.drained;
}

Drained Context::make_room(Device& device, std::uint64_t bytes) {
  ForeignLadder ladder(*this, &device, 0, std::max<std::uint64_t>(bytes, 1));
  climb(ladder, Stake::kMustFit, device.budget());
  if (ladder.drained.bytes == 0) raise_out_of_memory(device, bytes, "make_room");
  return ladder.drained;
}

}  // namespace ebb
