// The governor keeps a device under its budget, and the host's collector at its share of the time.
//
// One for each context, because what it learns (what a collection costs, what it finds) is about
// that context's collector. It decides; the Ladder it is given does. Rungs, cheapest first,
// stopping as soon as the request fits:
//
//   drain orphans                     always
//   minor collection, drain           unless the last minor ones did not pay
//   trim, no more than needed         where the pool has not done so itself
//   major collection, drain
//   ask the other contexts            they collect at their next safe point
//   wait for the device's frees
//
// How far it climbs depends on what is at stake:
//   kMustFit  the alternative is an error: every rung is tried.
//   kBudget   a foreign runtime's soft budget. While what is reachable fits the budget, every rung
//   is
//             tried too. Once a major collection could not get below the budget the live set does
//             not fit: that is an overrun, said once; from then on collections keep to their share
//             of the time and need as much again to have been born as before, until the device is
//             back below.
//   kRation   nobody needs memory (idle time, another context asked): share and births decide.
//
// A collection pays if it brings back at least a sixteenth of the budget or makes the request fit
// with nothing less. After a minor one that does not pay, the next climbs skip the minor rung,
// twice as often each time.
//
// Threads: one climb at a time; the context sees to that. The counters may be read at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ebb {

enum class Collection : std::uint8_t { kMinor = 0, kMajor = 1 };
enum class Stake : std::uint8_t { kMustFit, kBudget, kRation };

// What the rungs do.
class Ladder {
 public:
  virtual ~Ladder() = default;
  // Whether the request fits now.
  virtual bool fits() = 0;
  // Gives orphans back; the bytes that came.
  virtual std::uint64_t drain() = 0;
  // Makes the host collect; nanoseconds it took. No lock is held.
  virtual std::uint64_t collect(Collection kind) = 0;
  virtual void trim() {}
  virtual void ask_others() {}
  virtual void wait_pending() {}
};

struct GovernorOptions {
  double share = 0.05;  // most of the time that collecting may take where it is rationed
  bool minor = true;    // the host has a minor collection that is cheaper than a major one
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
  // Forgets what it learned and counted. Pre: no climb is under way.
  void restart(GovernorOptions options) noexcept;

  struct Request {
    Stake stake = Stake::kMustFit;
    std::uint64_t budget = 0;  // of the device; 0: none
    std::uint64_t born = 0;    // bytes born in this context so far, ever
    bool can_collect = true;   // reclaim is on and the host has a collector
  };
  // Whether the ladder's request fits in the end.
  bool climb(Ladder& ladder, const Request& request);

  // One collection and drain outside of any request. True if it ran.
  bool collect(Ladder& ladder, Collection kind, bool rationed, std::uint64_t born);

  bool overrun() const noexcept { return overrun_.load(std::memory_order_relaxed); }
  // The device is below its budget again.
  void recovered() noexcept { overrun_.store(false, std::memory_order_relaxed); }
  CollectionCosts costs() const noexcept;

 private:
  bool rationed_out(std::uint64_t born) const;
  bool try_minor(const Request& request);
  std::uint64_t run(Ladder& ladder, Collection kind, std::uint64_t born);
  void judge_minor(std::uint64_t found, const Request& request, bool fits);

  GovernorOptions options_;
  std::atomic<bool> overrun_{false};
  std::uint32_t minor_penalty_ = 0;  // climbs that skip the minor rung after the next poor one
  std::uint32_t minor_skips_ = 0;    // of those, still to come
  std::uint64_t last_end_ = 0;       // when the last collection ended
  std::uint64_t last_cost_ = 0;
  std::uint64_t born_at_last_ = 0;  // bytes born when it ended
  std::uint64_t overrun_step_ = 0;  // bytes to be born before the next rationed collection
  std::atomic<std::uint64_t> minors_{0}, majors_{0}, total_ns_{0}, longest_ns_{0};
};

}  // namespace ebb
