#include "ebb/memory/pacing.hpp"

#include <algorithm>
#include <limits>

namespace ebb {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

void lower(std::atomic<std::uint64_t>& value, std::uint64_t to) noexcept {
  if (to < value.load(kRelaxed)) value.store(to, kRelaxed);
}

}  // namespace

// ---- an allowance

bool Allowance::left(std::uint64_t now) noexcept {
  nanoseconds_ = std::min(nanoseconds_ + share_ * static_cast<double>(now - counted_), most_);
  counted_ = now;
  return nanoseconds_ >= 0;
}

void Allowance::spend(std::uint64_t cost, std::uint64_t now) noexcept {
  left(std::max(counted_, now - std::min(cost, now)));
  nanoseconds_ -= (1 - share_) * static_cast<double>(cost);
  counted_ = now;
  most_ = std::max(kSaved * static_cast<double>(cost), most_ / 2);
}

// ---- growth

void GrowthPacing::restart(const Options& options) noexcept {
  least_minor_.store(options.minor_step, kRelaxed);
  least_major_.store(options.major_step, kRelaxed);
  share_.store(options.share, kRelaxed);
  now_.store(options.now, kRelaxed);
  minor_at_.store(options.minor_step, kRelaxed);
  for (auto* each : {&minor_from_, &low_, &major_end_, &major_cost_}) each->store(0, kRelaxed);
  major_paid_.store(true, kRelaxed);
}

std::optional<Collection> GrowthPacing::due(std::uint64_t live, bool scoped) noexcept {
  const std::uint64_t factor = scoped ? kScopedGrowth : 1;
  // The cheap one first: it may bring back what the other would be for.
  if (minor_due(live, factor)) return Collection::kMinor;
  if (major_due(live, factor)) return Collection::kMajor;
  return std::nullopt;
}

bool GrowthPacing::minor_due(std::uint64_t live, std::uint64_t factor) noexcept {
  const std::uint64_t step = least_minor_.load(kRelaxed);
  if (step == 0) return false;
  lower(minor_at_, live + step);
  return live >= minor_at_.load(kRelaxed) + (factor - 1) * step &&
         now_.load(kRelaxed)() >= minor_from_.load(kRelaxed);
}

std::uint64_t GrowthPacing::major_step(std::uint64_t low) const noexcept {
  return std::max(least_major_.load(kRelaxed), low / 2);
}

// The share rises with the growth, from the usual one at one step on: dropped tensors should not
// pile up far. After a collection that found little it does not: a growing live set should not pay
// for it.
bool GrowthPacing::major_due(std::uint64_t live, std::uint64_t factor) noexcept {
  if (least_major_.load(kRelaxed) == 0) return false;
  lower(low_, live);
  const std::uint64_t low = low_.load(kRelaxed);
  const std::uint64_t step = factor * major_step(low);
  if (live <= low || live - low <= step) return false;
  const std::uint64_t cost = major_cost_.load(kRelaxed);
  double rest = rest_after(cost, share_.load(kRelaxed));
  if (major_paid_.load(kRelaxed)) {
    const double growth = static_cast<double>(live - low) / static_cast<double>(step);
    rest = std::max(rest / (growth * growth), rest_after(cost, shares::kPaying));
  }
  return static_cast<double>(now_.load(kRelaxed)() - major_end_.load(kRelaxed)) >= rest;
}

void GrowthPacing::collected(Collection kind, std::uint64_t before, std::uint64_t after,
                             std::uint64_t start, std::uint64_t cost) noexcept {
  const std::uint64_t found = before > after ? before - after : 0;
  const std::uint64_t step = least_minor_.load(kRelaxed);
  minor_at_.store(after + step, kRelaxed);
  if (kind == Collection::kMinor) {
    const bool paid = found >= step / 2;
    const double turn = static_cast<double>(cost) / (paid ? shares::kPaying : shares::kVain);
    minor_from_.store(start + static_cast<std::uint64_t>(turn), kRelaxed);
    return;
  }
  major_paid_.store(found > major_step(low_.load(kRelaxed)) / 2, kRelaxed);
  low_.store(after, kRelaxed);
  major_end_.store(now_.load(kRelaxed)(), kRelaxed);
  major_cost_.store(cost, kRelaxed);
}

// ---- idle time

IdleLooks::Look IdleLooks::look(std::uint64_t births) noexcept {
  using Act = Look::Act;
  if (births != seen_) {
    seen_ = births;
    quiet_ = 0;
    return {++busy_ % kBusyLooks == 0 ? Act::kCollectRationed : Act::kDrain, true};
  }
  if (++quiet_ > kQuietLooks) return {Act::kNothing, false};
  busy_ = 0;
  // One quiet look may only mean that the process did not get the processor. And the second
  // collection is for what a compilation in another thread of the host held during the first.
  return {quiet_ > 1 ? Act::kCollect : Act::kNothing, true};
}

// ---- walks

Walks::Walk& Walks::of(std::uint64_t list) noexcept {
  const auto known = std::ranges::find(walks_, list, &Walk::list);
  if (known != walks_.end()) return *known;
  Walk& least = *std::ranges::min_element(walks_, {}, &Walk::wasted);
  least = {.list = list};
  return least;
}

void Walks::visited(Walk& walk, std::uint64_t entries) noexcept {
  if (walk.collected) {
    walk.doubt = entries < walk.last / 2 ? 1 : std::min(kMostDoubt, 2 * walk.doubt);
    walk.fewest = std::numeric_limits<std::uint64_t>::max();
    walk.collected = false;
  }
  walk.last = entries;
  if (entries < walk.fewest) {
    walk.fewest = entries;
    walk.wasted = 0;
  } else {
    walk.wasted += (entries - walk.fewest) * kEntryNs;
  }
}

bool Walks::due(std::uint64_t list, std::uint64_t entries, std::uint64_t cost) noexcept {
  if (list == 0 || entries == 0) return false;
  Walk& walk = of(list);
  visited(walk, entries);
  walk.collected = walk.wasted > walk.doubt * std::max(kLeastCost, cost);
  return walk.collected;
}

}  // namespace ebb
