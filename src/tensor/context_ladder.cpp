// How a context makes room: when the governor's ladder is climbed, that is where an allocation does
// not fit, and at safe points. What the rungs do is in tensor/ladders.hpp, what is decided is decided
// by the Governor.
//
// A context may be bound to a thread (a V8 isolate's). Then the host collects, and foreign tensors
// end, on that thread only. Another thread that finds no room drains what is Ebb's own, asks the
// host's thread, which collects at its next safe point, waits a little for it, and fails.
//
// While a device's stream is being captured nothing collects and nothing waits for the device: what
// a drain gives back is all there is.
#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "ebb/base/error.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"
#include "memory/clock.hpp"
#include "memory/event_ring.hpp"
#include "tensor/context_body.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/ladders.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

constexpr auto kNestedWait = std::chrono::seconds(1);

}  // namespace

// One climb at a time in a context. Inside a collection, on the same thread, there is no second
// one. A second thread waits for the climb under way, however long that takes: what it finds may be
// enough. Only where it comes from inside another visit, for which the climber may wait in turn,
// does it give up.
class ContextBody::ClimbScope {
 public:
  explicit ClimbScope(ContextBody& context, ContextId id) : context_(context) {
    const auto me = std::this_thread::get_id();
    const auto until = Visit::any() ? std::chrono::steady_clock::now() + kNestedWait
                                    : std::chrono::steady_clock::time_point::max();
    bool mine = false;
    poll_until(until, [&] {
      std::thread::id climber{};
      if (context_.climbing_.compare_exchange_strong(climber, me)) return mine = true;
      return climber == me;
    });
    if (!mine) return;
    std::unique_lock lock(context_.lock_);
    if (!context_.serves(id)) {  // its host may be gone
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
  ContextBody& context_;
  std::optional<Visit> visit_;
};

Block ContextBody::allocate(ContextId id, const TensorSpec& spec, std::uint64_t bytes) {
  Device& device = *spec.device;
  if (device.over_committed()) [[unlikely]]
    device.trim_to_budget_in_turn();
  if (Block block = device.pool().allocate(bytes, spec.stream)) [[likely]]
    return block;
  return find_room(id, spec, bytes);
}

Block ContextBody::find_room(ContextId id, const TensorSpec& spec, std::uint64_t bytes) {
  Device& device = *spec.device;
  OwnLadder ladder(*this, id, device, bytes, spec.stream);
  if (device.budget() != 0 && device.mode() == BudgetMode::kSoft) {
    if (!climb(id, ladder, Stake::kBudget, device.budget())) {
      ladder.block = device.allocate_past_budget(bytes, spec.stream);
    }
    if (ladder.block && device.ceiling() != 0) warn_overrun(device);
    if (ladder.block) return ladder.block;
  }
  if (climb(id, ladder, Stake::kMustFit, device.budget())) return ladder.block;
  if (!ladder.capturing() && wait_for_host(ladder)) return ladder.block;
  check_open(id, "make");  // an ended one does not climb
  raise_out_of_memory(device, bytes, "make");
}

// Names are pressure as bytes are, and so is what the records of tensors need: the same rungs.
void ContextBody::find_record(ContextId id, const NoRecord& missing, std::string_view who) {
  Device& payer = *missing.payer;
  RecordLadder ladder(*this, id, missing);
  const bool names_left = SlotSpace<TensorRecord>::stock().has_room();
  if (names_left && payer.mode() == BudgetMode::kSoft) {
    if (!climb(id, ladder, Stake::kBudget, payer.budget())) payer.let_records_pass();
    if (payer.ceiling() != 0) warn_overrun(payer);
    return;
  }
  if (climb(id, ladder, Stake::kMustFit, 0) || wait_for_host(ladder)) return;
  check_open(id, who);
  if (!names_left) raise_no_names(who);
  raise_out_of_memory(payer, 0, who);
}

// Foreign tensors end at safe points only, so there it is looked whether names run short: a
// collection for each sixteenth of all names that is born while an eighth or less is left.
void ContextBody::keep_names(ContextId id, Drained& drained) {
  const std::uint64_t born = births();
  if (born - births_at_look_.load(std::memory_order_relaxed) <
      SlotSpace<TensorRecord>::most_names() / 16)
    return;
  births_at_look_.store(born, std::memory_order_relaxed);
  ask_others(nullptr);
  drained += collect(id, Collection::kMajor, false);
}

bool ContextBody::may_collect() const {
  return reclaiming() && on_host_thread() && host_ != nullptr && host_->can_collect();
}

// Names count too: some have no bytes of their own.
std::uint64_t ContextBody::born_bytes() {
  std::lock_guard guard(lock_);
  return born_bytes_ + books(nullptr).created;
}

std::uint64_t ContextBody::births() {
  std::lock_guard guard(lock_);
  return books(nullptr).created;
}

bool ContextBody::climb(ContextId id, Ladder& ladder, Stake stake, std::uint64_t budget) {
  ClimbScope scope(*this, id);
  if (!scope.entered()) return ladder.fits();
  return governor_->climb(
      ladder,
      {.stake = stake, .budget = budget, .born = born_bytes(), .can_collect = may_collect()});
}

// No climb is under way here: the host's thread climbs when it collects.
bool ContextBody::wait_for_host(Ladder& ladder) {
  if (on_host_thread() || !reclaiming()) return false;
  asked_.store(Asked::kByOwnThread, std::memory_order_relaxed);
  return poll_until(std::chrono::steady_clock::now() + kPeerWait, [&] { return ladder.fits(); });
}

std::uint64_t ContextBody::run_collector(Collection kind) {
  const std::uint64_t start = steady_ns();
  std::uint64_t cost = host_->collect(kind);
  if (cost == kCannotCollect) return cost;
  if (cost == 0) cost = std::max<std::uint64_t>(steady_ns() - start, 1);
  if (trace::on()) {
    trace::record({.id = cost, .kind = kCollected, .detail = static_cast<std::uint8_t>(kind)});
  }
  return cost;
}

// True if another context has anything on the device, and so was asked to collect.
bool ContextBody::ask_others(const Device* device) {
  bool asked = false;
  ContextRegistry::instance().for_each([&](ContextBody& other) {
    if (&other == this) return;
    std::lock_guard guard(other.lock_);
    if (other.closed()) return;
    if (device == nullptr ? other.handles_.live() == 0
                          : other.ledger(*device).books().storages.bytes == 0) {
      return;
    }
    Asked nothing = Asked::kNothing;
    other.asked_.compare_exchange_strong(nothing, Asked::kByOthers, std::memory_order_relaxed);
    asked = true;
  });
  return asked && reclaiming();
}

// ---- safe points

// Under the lock: what is asked of the context that serves here next is not taken from it.
ContextBody::Asked ContextBody::take_request(ContextId id) {
  const Lock lock = enter(id, "safe_point");
  return asked_.exchange(Asked::kNothing, std::memory_order_relaxed);
}

Drained ContextBody::safe_point(ContextId id, Device* device, std::uint64_t upcoming, bool scoped) {
  check_open(id, "safe_point");
  Drained drained;
  const bool on = reclaiming();
  if (handles_.orphans().noticed() || (on && handles_.orphans().waiting() != 0)) {
    drained += drain(id, Scope::kAll);
  }
  if (!on || !on_host_thread()) return drained;
  if (asked_.load(std::memory_order_relaxed) != Asked::kNothing) {
    const Asked asked = take_request(id);
    drained += collect(id, Collection::kMajor, asked == Asked::kByOthers);
  }
  if (device != nullptr) {
    if (device->foreign()) keep_under_budget(id, *device, upcoming, drained);
  } else {
    std::uint32_t devices = foreign_devices_.load(std::memory_order_relaxed);
    for (; devices != 0; devices &= devices - 1) {
      Device* each = Device::at(static_cast<DeviceIndex>(std::countr_zero(devices)));
      if (each != nullptr) keep_under_budget(id, *each, upcoming, drained);
    }
  }
  if (SlotSpace<TensorRecord>::stock().crowded()) [[unlikely]]
    keep_names(id, drained);
  const std::uint64_t live = pressure_.load(std::memory_order_relaxed) + upcoming;
  if (governor_->grown(live, scoped)) pace(id, scoped, upcoming, drained);
  return drained;
}

void ContextBody::keep_under_budget(ContextId id, Device& device, std::uint64_t upcoming,
                                    Drained& drained) {
  // The host seldom knows what its next kernel makes; often it is like the last. That is a guess:
  // collections are tried for it, but nothing is said or thrown.
  const std::uint64_t guessed =
      std::max(upcoming, last_birth(device).load(std::memory_order_relaxed));
  if (!device.over_limit(guessed)) {
    if (device.ceiling() != 0) [[unlikely]]
      look_at_overrun(device, upcoming);
    return;
  }
  Lock lock = enter(id, "safe_point");
  Visit visit(*this, lock);
  lock.unlock();
  const bool hard = device.over_limit(upcoming) && device.mode() == BudgetMode::kHard;
  ForeignLadder ladder(*this, id, &device, hard ? upcoming : guessed);
  const bool fits = climb(id, ladder, hard ? Stake::kMustFit : Stake::kBudget, device.budget());
  drained += ladder.drained;
  if (!fits && hard) raise_out_of_memory(device, upcoming, "safe_point");
  if (device.ceiling() != 0) look_at_overrun(device, upcoming);
}

void ContextBody::look_at_overrun(Device& device, std::uint64_t upcoming) {
  const std::uint64_t guessed =
      std::max(upcoming, last_birth(device).load(std::memory_order_relaxed));
  if (!device.over_budget(guessed)) {
    device.set_ceiling(0);
  } else if (device.over_budget(upcoming)) {
    warn_overrun(device);
  }
}

void ContextBody::pace(ContextId id, bool scoped, std::uint64_t upcoming, Drained& drained) {
  ForeignLadder ladder(*this, id, nullptr, upcoming);
  ClimbScope scope(*this, id);
  if (scope.entered() && may_collect()) governor_->pace(ladder, scoped, born_bytes());
  drained += ladder.drained;
}

Drained ContextBody::collect(ContextId id, Collection kind, bool rationed) {
  check_open(id, "collect");
  ForeignLadder ladder(*this, id);
  ladder.drain();
  ClimbScope scope(*this, id);
  if (scope.entered() && may_collect()) governor_->collect(ladder, kind, rationed, born_bytes());
  return ladder.drained;
}

std::uint32_t ContextBody::idle(ContextId id, Drained* drained) {
  check_open(id, "idle");
  ForeignLadder ladder(*this, id);
  std::uint32_t again = 0;
  if (ClimbScope scope(*this, id); scope.entered() && may_collect()) {
    again = governor_->idle(ladder, births(), born_bytes());
  }
  if (drained != nullptr) *drained = ladder.drained;
  return again;
}

Drained ContextBody::walk(ContextId id, std::uint64_t list, std::uint64_t entries) {
  check_open(id, "walk");
  ForeignLadder ladder(*this, id);
  ClimbScope scope(*this, id);
  if (scope.entered() && may_collect()) governor_->walk(ladder, list, entries, born_bytes());
  return ladder.drained;
}

Drained ContextBody::make_room(ContextId id, Device& device, std::uint64_t bytes) {
  check_open(id, "make_room");
  ForeignLadder ladder(*this, id, &device, 0, std::max<std::uint64_t>(bytes, 1));
  climb(id, ladder, Stake::kMustFit, device.budget());
  if (ladder.drained.bytes == 0) raise_out_of_memory(device, bytes, "make_room");
  return ladder.drained;
}

}  // namespace ebb
