// When to collect although nobody needs the memory yet. Three reasons, each a small class that only
// decides; the Governor runs what they ask for.
//
//   GrowthPacing  live bytes have grown. Minor collections for early reuse: memory that comes back
//                 soon is still in the processor's caches. Major ones so that what only they find
//                 (old arrays, dropped models) does not pile up far below the budget.
//   IdleLooks     the program went quiet: nobody would ask for a safe point.
//   Walks         the host walks a list that dead tensors lengthen, again and again.
//
// Threads: GrowthPacing::due may be called on any thread at any time, also while it is restarted;
// it may miss a race, and the next look comes soon. Everything else is called inside one climb at a
// time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace ebb {

enum class Collection : std::uint8_t { kMinor = 0, kMajor = 1 };

// Most of the time that collecting may take where it is rationed. A host may set the usual one.
namespace shares {
inline constexpr double kUsual = 0.05;
inline constexpr double kPaying = 0.25;  // while it brings back what it is for
inline constexpr double kVain = 0.01;    // minor collections for early reuse, while they do not
}  // namespace shares

// How long to rest after a collection of this cost, so that it takes its share of the time.
inline double rest_after(std::uint64_t cost, double share) noexcept {
  return static_cast<double>(cost) * (1 - share) / share;
}

// The time that collections may take where they are rationed by what all of them have cost. What one
// leaves of its share the next may use, up to two of them: one that takes longer than the others
// does not use up more than its part.
class Allowance {
 public:
  explicit Allowance(double share) noexcept : share_(share) {}
  // Whether a collection may begin. The times never go back.
  bool left(std::uint64_t now) noexcept;
  void spend(std::uint64_t cost, std::uint64_t now) noexcept;

 private:
  static constexpr double kSaved = 2;  // times what a collection has cost lately

  double share_;
  double nanoseconds_ = 0;
  double most_ = 0;
  std::uint64_t counted_ = 0;  // until then
};

class GrowthPacing {
 public:
  struct Options {
    std::uint64_t minor_step = 0;  // growth from one minor collection to the next; 0: none
    std::uint64_t major_step = 0;  // growth, at least, from one major one to the next; 0: none
    double share = shares::kUsual;
    std::uint64_t (*now)() = nullptr;
  };
  // Forgets what it learned. Pre: no call but due() is under way.
  void restart(const Options& options) noexcept;

  // What should run, so many bytes being alive. `scoped`: what is made now will end with its scope,
  // so most of the growth is no garbage; a scope that never ends does not stop the pacing.
  std::optional<Collection> due(std::uint64_t live, bool scoped) noexcept;
  // A collection, whoever asked for it: what was alive before it and after its drain, when it
  // began and what it cost.
  void collected(Collection kind, std::uint64_t before, std::uint64_t after, std::uint64_t start,
                 std::uint64_t cost) noexcept;

 private:
  static constexpr std::uint64_t kScopedGrowth = 16;  // times the usual

  bool minor_due(std::uint64_t live, std::uint64_t factor) noexcept;
  bool major_due(std::uint64_t live, std::uint64_t factor) noexcept;
  // Growth from which on a major collection is due: half of what is known to be needed.
  std::uint64_t major_step(std::uint64_t low) const noexcept;

  std::atomic<std::uint64_t> least_minor_{0}, least_major_{0};  // the steps of the options
  std::atomic<double> share_{shares::kUsual};
  std::atomic<std::uint64_t (*)()> now_{nullptr};
  std::atomic<std::uint64_t> minor_at_{0};    // live bytes of the next minor collection
  std::atomic<std::uint64_t> minor_from_{0};  // and the time before which there is none
  std::atomic<std::uint64_t> low_{0};         // fewest live bytes since the last major collection
  std::atomic<std::uint64_t> major_end_{0}, major_cost_{0};
  std::atomic<bool> major_paid_{true};
};

class IdleLooks {
 public:
  static constexpr std::uint32_t kIntervalMs = 300;  // four fit into two seconds, if each is late
  struct Look {
    enum class Act : std::uint8_t { kNothing, kDrain, kCollectRationed, kCollect } act;
    bool again;
  };
  // A look at a program that has made so many tensors by now.
  Look look(std::uint64_t births) noexcept;

 private:
  static constexpr std::uint32_t kQuietLooks = 3;
  static constexpr std::uint32_t kBusyLooks =
      100;  // one that is never quiet is collected this often

  std::uint64_t seen_ = 0;
  std::uint32_t busy_ = 0, quiet_ = 0;
};

// Once walks over a list have spent more time on entries that may be dead than a collection takes,
// one is due before the next walk. So collecting never costs more than walking did, however seldom
// the host collects by itself.
class Walks {
 public:
  // A walk over the list begins; the last one visited `entries` (0: there was none). Whether to
  // collect first, which takes so long.
  bool due(std::uint64_t list, std::uint64_t entries, std::uint64_t cost) noexcept;

 private:
  static constexpr std::uint64_t kEntryNs = 250;  // what a walk spends on one out of the caches
  static constexpr std::uint64_t kLeastCost = 5'000'000;
  static constexpr std::uint32_t kMostDoubt = 64;
  struct Walk {
    std::uint64_t list = 0;    // 0: free
    std::uint64_t fewest = 0;  // entries, since the last collection; before that all may be dead
    std::uint64_t last = 0;
    std::uint64_t wasted = 0;  // nanoseconds
    std::uint32_t doubt = 1;   // grows with collections that found little
    bool collected = false;
  };

  Walk& of(std::uint64_t list) noexcept;
  static void visited(Walk& walk, std::uint64_t entries) noexcept;

  std::array<Walk, 16> walks_;  // a list that is not walked for long loses its place
};

}  // namespace ebb
