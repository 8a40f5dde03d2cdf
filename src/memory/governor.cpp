#include "ebb/memory/governor.hpp"

#include <algorithm>

#include "memory/clock.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kPays = 16;            // a collection pays if it finds budget / kPays
constexpr std::uint32_t kLongestPenalty = 64;  // climbs

GovernorOptions completed(GovernorOptions options) noexcept {
  if (options.now == nullptr) options.now = [] { return steady_ns(); };
  if (!(options.share > 0)) options.share = shares::kUsual;
  options.share = std::min(options.share, 1.0);
  if (!options.minor) options.minor_step = 0;
  return options;
}

// In an overrun: how far a device may fill whose reachable bytes are known, or are not.
std::uint64_t ceiling_over(std::uint64_t reachable) noexcept { return reachable + reachable / 2; }
std::uint64_t yielded(std::uint64_t needs, std::uint64_t budget) noexcept {
  return needs + std::max<std::uint64_t>(budget / kPays, 1);
}

// Where what is alive fits the budget there is no overrun any more.
void look_at_overrun(Ladder& ladder, const Governor::Request& request) {
  if (request.stake == Stake::kBudget && ladder.ceiling() != 0 &&
      ladder.needs() <= request.budget) {
    ladder.set_ceiling(0);
  }
}

}  // namespace

Governor::Governor(GovernorOptions options) { restart(options); }

void Governor::restart(GovernorOptions options) noexcept {
  options_ = completed(options);
  growth_.restart({.minor_step = options_.minor_step,
                   .major_step = options_.major_step,
                   .share = options_.share,
                   .now = options_.now});
  looks_ = {};
  walks_ = {};
  minor_penalty_ = minor_skips_ = 0;
  last_ = {};
  overrun_ = Allowance(shares::kPaying);
  born_at_last_ = 0;
  for (auto* counter : {&minors_, &majors_, &total_ns_, &longest_ns_}) {
    counter->store(0, std::memory_order_relaxed);
  }
}

CollectionCosts Governor::costs() const noexcept {
  return {minors_.load(std::memory_order_relaxed), majors_.load(std::memory_order_relaxed),
          total_ns_.load(std::memory_order_relaxed), longest_ns_.load(std::memory_order_relaxed)};
}

// Whether the time since the last one is not yet worth what that one cost.
bool Governor::resting(Collection kind, double share) noexcept {
  const Pause& pause = last(kind);
  return static_cast<double>(options_.now() - pause.end) < rest_after(pause.cost, share);
}

bool Governor::may_collect(Ladder& ladder, const Request& request) {
  if (!request.can_collect) return false;
  if (request.stake == Stake::kMustFit) return true;
  if (request.born == born_at_last_) return false;  // nothing can have died
  return ladder.ceiling() == 0 || overrun_.left(options_.now());
}

bool Governor::try_minor() {
  if (!options_.minor) return false;
  if (minor_skips_ == 0) return true;
  --minor_skips_;
  return false;
}

// The bytes that came back; none if the host cannot collect now.
std::optional<std::uint64_t> Governor::run(Ladder& ladder, Collection kind, std::uint64_t born) {
  const std::uint64_t before = ladder.live();
  const std::uint64_t start = options_.now();
  const std::uint64_t cost = ladder.collect(kind);
  if (cost == kCannotCollect) return std::nullopt;
  (kind == Collection::kMinor ? minors_ : majors_).fetch_add(1, std::memory_order_relaxed);
  total_ns_.fetch_add(cost, std::memory_order_relaxed);
  longest_ns_.store(std::max(cost, longest_ns_.load(std::memory_order_relaxed)),
                    std::memory_order_relaxed);
  last(kind) = {.end = options_.now(), .cost = cost};
  overrun_.spend(cost, last(kind).end);
  born_at_last_ = born;
  const std::uint64_t found = ladder.drain();
  growth_.collected(kind, before, ladder.live(), start, cost);
  return found;
}

// In an overrun a minor collection is enough if it takes back a half of what lies between what is
// reachable and the ceiling.
bool Governor::minor_enough(Ladder& ladder, const Request& request) {
  const std::uint64_t ceiling = ladder.ceiling();
  if (request.stake == Stake::kBudget && ceiling != 0) {
    return ladder.needs() <= ceiling - ceiling / 6;
  }
  return ladder.fits();
}

void Governor::judge_minor(std::uint64_t found, const Request& request, bool enough) {
  const bool paid = enough && (request.budget == 0 || found >= request.budget / kPays);
  minor_penalty_ = paid ? 0 : std::clamp(minor_penalty_ * 2, 1u, kLongestPenalty);
  minor_skips_ = minor_penalty_;
}

bool Governor::climb(Ladder& ladder, const Request& request) {
  ladder.drain();
  look_at_overrun(ladder, request);
  if (ladder.fits()) return true;
  bool collecting = may_collect(ladder, request);
  std::uint64_t minor_cost = 0;
  if (collecting && try_minor()) {
    const auto found = run(ladder, Collection::kMinor, request.born);
    collecting = found.has_value();
    if (collecting) {
      minor_cost = last(Collection::kMinor).cost;
      const bool enough = minor_enough(ladder, request);
      judge_minor(*found, request, enough);
      look_at_overrun(ladder, request);
      if (enough && ladder.fits()) return true;
    }
  }
  if (collecting) {
    collecting = run(ladder, Collection::kMajor, request.born).has_value();
    if (collecting) last(Collection::kMajor).cost += minor_cost;  // the pause was both
  }
  if (request.stake == Stake::kBudget) return go_past(ladder, request, collecting);
  if (collecting && ladder.fits()) return true;
  ladder.ask_others();
  ladder.wait_pending();
  return ladder.fits();
}

// A soft budget, after what could be done for it. `collected`: what is left is reachable.
bool Governor::go_past(Ladder& ladder, const Request& request, bool collected) {
  const bool past = ladder.ceiling() != 0;
  look_at_overrun(ladder, request);
  if (ladder.ceiling() == 0 && ladder.fits()) return true;
  if (!past) {
    ladder.ask_others();
    if (!collected) return false;  // nobody has looked what is reachable
  }
  const std::uint64_t needs = ladder.needs();
  ladder.set_ceiling(collected ? ceiling_over(needs) : yielded(needs, request.budget));
  return ladder.fits();
}

bool Governor::collect(Ladder& ladder, Collection kind, bool rationed, std::uint64_t born) {
  if (rationed && (born == born_at_last_ || resting(kind, options_.share))) return false;
  return run(ladder, kind, born).has_value();
}

void Governor::pace(Ladder& ladder, bool scoped, std::uint64_t born) {
  if (const auto kind = growth_.due(ladder.live(), scoped)) run(ladder, *kind, born);
}

std::uint32_t Governor::idle(Ladder& ladder, std::uint64_t births, std::uint64_t born) {
  using Act = IdleLooks::Look::Act;
  const IdleLooks::Look look = looks_.look(births);
  if (look.act == Act::kDrain) ladder.drain();
  if (look.act == Act::kCollect || look.act == Act::kCollectRationed) {
    collect(ladder, Collection::kMajor, look.act == Act::kCollectRationed, born);
  }
  return look.again ? IdleLooks::kIntervalMs : 0;
}

void Governor::walk(Ladder& ladder, std::uint64_t list, std::uint64_t entries, std::uint64_t born) {
  if (walks_.due(list, entries, last(Collection::kMajor).cost)) {
    run(ladder, Collection::kMajor, born);
  }
}

}  // namespace ebb
