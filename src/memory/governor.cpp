#include "ebb/memory/governor.hpp"

#include <algorithm>
#include <chrono>

namespace ebb {
namespace {

constexpr std::uint64_t kPays = 16;            // a collection pays if it finds budget / kPays
constexpr std::uint32_t kLongestPenalty = 64;  // climbs

std::uint64_t steady_now() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

GovernorOptions completed(GovernorOptions options) noexcept {
  if (options.now == nullptr) options.now = &steady_now;
  if (!(options.share > 0)) options.share = GovernorOptions{}.share;
  options.share = std::min(options.share, 1.0);
  return options;
}

}  // namespace

Governor::Governor(GovernorOptions options) : options_(completed(options)) {}

void Governor::restart(GovernorOptions options) noexcept {
  options_ = completed(options);
  overrun_.store(false, std::memory_order_relaxed);
  minor_penalty_ = minor_skips_ = 0;
  last_end_ = last_cost_ = born_at_last_ = overrun_step_ = 0;
  for (auto* counter : {&minors_, &majors_, &total_ns_, &longest_ns_}) {
    counter->store(0, std::memory_order_relaxed);
  }
}

CollectionCosts Governor::costs() const noexcept {
  return {minors_.load(std::memory_order_relaxed), majors_.load(std::memory_order_relaxed),
          total_ns_.load(std::memory_order_relaxed), longest_ns_.load(std::memory_order_relaxed)};
}

// Where collecting is rationed, the time since the last one must be worth what that one cost, and
// something must have been born that can have died.
bool Governor::rationed_out(std::uint64_t born) const {
  if (born == born_at_last_) return true;
  if (overrun() && born - born_at_last_ < overrun_step_) return true;
  const double rest = static_cast<double>(last_cost_) * (1 - options_.share) / options_.share;
  return static_cast<double>(options_.now() - last_end_) < rest;
}

bool Governor::try_minor(const Request& request) {
  if (!options_.minor) return false;
  if (minor_skips_ == 0) return true;
  --minor_skips_;
  return request.stake == Stake::kRation;
}

std::uint64_t Governor::run(Ladder& ladder, Collection kind, std::uint64_t born) {
  const std::uint64_t cost = ladder.collect(kind);
  (kind == Collection::kMinor ? minors_ : majors_).fetch_add(1, std::memory_order_relaxed);
  total_ns_.fetch_add(cost, std::memory_order_relaxed);
  longest_ns_.store(std::max(cost, longest_ns_.load(std::memory_order_relaxed)),
                    std::memory_order_relaxed);
  last_end_ = options_.now();
  last_cost_ = cost;
  born_at_last_ = born;
  return ladder.drain();
}

void Governor::judge_minor(std::uint64_t found, const Request& request, bool fits) {
  const bool paid = fits && (request.budget == 0 || found >= request.budget / kPays);
  minor_penalty_ = paid ? 0 : std::clamp(minor_penalty_ * 2, 1u, kLongestPenalty);
  minor_skips_ = minor_penalty_;
}

bool Governor::climb(Ladder& ladder, const Request& request) {
  ladder.drain();
  if (ladder.fits()) return true;
  const bool rationed =
      request.stake == Stake::kRation || (request.stake == Stake::kBudget && overrun());
  const bool may_collect = request.can_collect && !(rationed && rationed_out(request.born)) &&
                           !(request.stake == Stake::kBudget && request.born == born_at_last_);
  std::uint64_t minor_cost = 0;
  if (may_collect && try_minor(request)) {
    const std::uint64_t found = run(ladder, Collection::kMinor, request.born);
    minor_cost = last_cost_;
    const bool fits = ladder.fits();
    judge_minor(found, request, fits);
    if (fits) return true;
  }
  ladder.trim();
  if (ladder.fits()) return true;
  if (may_collect) {
    const std::uint64_t found = run(ladder, Collection::kMajor, request.born);
    last_cost_ += minor_cost;  // the pause was both
    if (ladder.fits()) return true;
    overrun_step_ = std::max(request.budget / kPays, found);
  }
  if (request.stake != Stake::kMustFit) {
    if (request.stake == Stake::kBudget && may_collect)
      overrun_.store(true, std::memory_order_relaxed);
    if (!rationed) ladder.ask_others();
    return false;
  }
  ladder.ask_others();
  ladder.wait_pending();
  return ladder.fits();
}

bool Governor::collect(Ladder& ladder, Collection kind, bool rationed, std::uint64_t born) {
  if (rationed && rationed_out(born)) return false;
  run(ladder, kind, born);
  return true;
}

}  // namespace ebb
