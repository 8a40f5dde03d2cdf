// The governor keeps a device under its budget, and the host's collector at its share of the time.
// It is the only policy there is: a host gives parameters and does what it is asked to.
//
// One for each context, because what it learns (what a collection costs, what it finds) is about
// that context's collector. It decides; the Ladder it is given does. Rungs, cheapest first,
// stopping as soon as the request fits:
//
//   drain orphans                     always
//   minor collection, drain           unless the last minor ones did not pay
//   major collection, drain
//   ask the other contexts            they collect at their next safe point
//   wait for the device's frees
//
// How far it climbs depends on what is at stake:
//   kMustFit  the alternative is an error: every rung is tried.
//   kBudget   a soft budget. While what is reachable fits the budget, collections are tried without
//             a ration. Once a major one could not get below the budget, the device is in an
//             overrun: it gets a ceiling of 1.5 x what is reachable, up to which nothing is done
//             for it. At the ceiling collecting may take a quarter of the time, of which a short
//             collection leaves something to a long one; where that is used up the ceiling yields.
//             The overrun is over when what is needed fits the budget.
//
// A collection pays if it brings back at least a sixteenth of the budget or makes the request fit
// with nothing less. After a minor one that does not pay, the next climbs skip the minor rung,
// twice as often each time.
//
// Collections that no request asks for (growth, idle time, walks) are paced: ebb/memory/pacing.hpp.
//
// Threads: one climb at a time; the context sees to that. grown() and the counters may be called at
// any time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "ebb/memory/pacing.hpp"

namespace ebb {

enum class Stake : std::uint8_t { kMustFit, kBudget };

// What a collection cost where none ran: the host cannot collect now.
inline constexpr std::uint64_t kCannotCollect = std::numeric_limits<std::uint64_t>::max();

// What the rungs do.
class Ladder {
 public:
  virtual ~Ladder() = default;
  // Whether the request fits now.
  virtual bool fits() = 0;
  // Gives orphans back; the bytes that came.
  virtual std::uint64_t drain() = 0;
  // Makes the host collect; nanoseconds it took, or kCannotCollect. No lock is held.
  virtual std::uint64_t collect(Collection kind) = 0;
  // What is alive in the context, as pressure: bytes, and something for each name.
  virtual std::uint64_t live() { return 0; }
  virtual void ask_others() {}
  virtual void wait_pending() {}

  // A device with a soft budget: the bytes it must hold for the request to fit, and how far it may
  // fill in an overrun (0: there is none).
  virtual std::uint64_t needs() { return 0; }
  virtual std::uint64_t ceiling() { return 0; }
  virtual void set_ceiling(std::uint64_t) {}
};

struct GovernorOptions {
  double share = shares::kUsual;  // most of the time for collections that nobody needs; 0: usual
  bool minor = true;             // the host has a minor collection that is cheaper than a major one
  std::uint64_t minor_step = 0;  // growth pacing: see GrowthPacing::Options
  std::uint64_t major_step = 0;
  std::uint64_t (*now)() = nullptr;  // nanoseconds; null: the steady clock
};

struct CollectionCosts {
  std::uint64_t minor = 0;  // how many
  std::uint64_t major = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t longest_ns = 0;
};

class Governor {
 public:
  explicit Governor(GovernorOptions options = {});
  // Forgets what it learned and counted. Pre: no climb is under way; grown() may be.
  void restart(GovernorOptions options) noexcept;

  struct Request {
    Stake stake = Stake::kMustFit;
    std::uint64_t budget = 0;  // of the device; 0: none
    std::uint64_t born = 0;    // bytes born in this context so far, ever
    bool can_collect = true;   // reclaim is on and the host has a collector
  };
  // Whether the ladder's request fits in the end; of a soft budget, up to its ceiling.
  bool climb(Ladder& ladder, const Request& request);

  // One collection and drain outside of any request. True if it ran.
  bool collect(Ladder& ladder, Collection kind, bool rationed, std::uint64_t born);

  // Whether pace() would collect, so many bytes being alive. A few nanoseconds where it would not.
  bool grown(std::uint64_t live, bool scoped) noexcept {
    return growth_.due(live, scoped).has_value();
  }
  // Collects if live bytes have grown enough.
  void pace(Ladder& ladder, bool scoped, std::uint64_t born);
  // A look from the host's timer, `births` tensors having been made so far. Milliseconds until the
  // next one; 0: not before something is born.
  std::uint32_t idle(Ladder& ladder, std::uint64_t births, std::uint64_t born);
  // The host is about to walk a list whose last walk visited so many entries.
  void walk(Ladder& ladder, std::uint64_t list, std::uint64_t entries, std::uint64_t born);

  CollectionCosts costs() const noexcept;

 private:
  struct Pause {
    std::uint64_t end = 0;
    std::uint64_t cost = 0;
  };
  Pause& last(Collection kind) noexcept { return last_[static_cast<std::size_t>(kind)]; }
  bool resting(Collection kind, double share) noexcept;
  bool may_collect(Ladder& ladder, const Request& request);
  bool try_minor();
  bool minor_enough(Ladder& ladder, const Request& request);
  std::optional<std::uint64_t> run(Ladder& ladder, Collection kind, std::uint64_t born);
  void judge_minor(std::uint64_t found, const Request& request, bool enough);
  bool go_past(Ladder& ladder, const Request& request, bool collected);

  GovernorOptions options_;
  GrowthPacing growth_;
  IdleLooks looks_;
  Walks walks_;
  std::uint32_t minor_penalty_ = 0;  // climbs that skip the minor rung after the next poor one
  std::uint32_t minor_skips_ = 0;    // of those, still to come
  std::array<Pause, 2> last_;        // the last collection of each kind
  Allowance overrun_{shares::kPaying};
  std::uint64_t born_at_last_ = 0;  // bytes born when the last one ended
  std::atomic<std::uint64_t> minors_{0}, majors_{0}, total_ns_{0}, longest_ns_{0};
};

}  // namespace ebb
