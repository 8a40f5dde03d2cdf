// A host with a generational collector, in virtual time: objects are born, become garbage after
// some steps, and are found by the next minor collection while they are young, by a major one
// later.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ebb/memory/governor.hpp"

namespace ebb::test {

inline constexpr std::uint64_t kForEver = std::numeric_limits<std::uint64_t>::max();
inline constexpr std::uint64_t kMillisecond = 1000000;

// What is born at a step: so many bytes, reachable for so many steps.
struct Birth {
  std::uint64_t bytes = 0;
  std::uint64_t lifetime = 0;
};

struct Workload {
  std::string name;
  std::uint64_t steps = 0;
  std::function<Birth(std::uint64_t step)> birth;
};

class GarbageModel {
 public:
  struct Costs {
    std::uint64_t step = kMillisecond;
    std::uint64_t minor = kMillisecond;
    std::uint64_t major = 20 * kMillisecond;
  };
  // `found` is called for each object that a collection finds dead.
  GarbageModel(Costs costs, std::function<void(std::uint64_t id, std::uint64_t bytes)> found)
      : costs_(costs), found_(std::move(found)) {}

  void step() {
    ++step_;
    clock() += costs_.step;
  }
  void born(std::uint64_t id, const Birth& birth) {
    const std::uint64_t dies = birth.lifetime == kForEver ? kForEver : step_ + birth.lifetime;
    objects_.push_back({id, birth.bytes, dies, false});
  }
  // How long it took.
  std::uint64_t collect(Collection kind) {
    const bool major = kind == Collection::kMajor;
    std::erase_if(objects_, [&](Object& object) {
      const bool looked_at = major || !object.old;
      if (looked_at && object.dies <= step_) {
        found_(object.id, object.bytes);
        return true;
      }
      object.old = object.old || looked_at;
      return false;
    });
    const std::uint64_t cost = major ? costs_.major : costs_.minor;
    clock() += cost;
    collecting_ += cost;
    return cost;
  }
  std::uint64_t reachable() const {
    std::uint64_t bytes = 0;
    for (const Object& object : objects_) bytes += object.dies > step_ ? object.bytes : 0;
    return bytes;
  }
  double share() const {
    return static_cast<double>(collecting_) /
           static_cast<double>(step_ * costs_.step + collecting_);
  }
  static std::uint64_t& clock() {
    static std::uint64_t ns = 1;
    return ns;
  }
  static std::uint64_t now() { return clock(); }

 private:
  struct Object {
    std::uint64_t id, bytes, dies;
    bool old;
  };
  const Costs costs_;
  const std::function<void(std::uint64_t, std::uint64_t)> found_;
  std::vector<Object> objects_;
  std::uint64_t step_ = 0;
  std::uint64_t collecting_ = 0;
};

// The live set of all of these fits a budget of kBudgetBytes, with the next birth.
inline constexpr std::uint64_t kBudgetBytes = 10000;
inline std::vector<Workload> workloads_that_fit() {
  return {
      {"steady garbage", 3000,
       [](std::uint64_t) {
         return Birth{100, 2};
       }},
      {"garbage of all sizes", 3000,
       [](std::uint64_t step) {
         return Birth{1 + step * 7919 % 900, step % 5};
       }},
      {"growing live set", 2000,
       [](std::uint64_t step) {
         return Birth{100, step % 30 == 0 ? kForEver : 1};
       }},
      {"saw-tooth", 3000,
       [](std::uint64_t step) {
         return Birth{80, 100 - step % 100};
       }},
      {"old garbage", 3000,
       [](std::uint64_t) {
         return Birth{100, 60};
       }},
      {"just under the budget", 2000,
       [](std::uint64_t step) {
         return Birth{100, step < 95 ? kForEver : 2};
       }},
      {"one large among small", 2000,
       [](std::uint64_t step) {
         return step % 50 == 0 ? Birth{5000, 3} : Birth{50, 3};
       }},
  };
}
inline Workload all_reachable(std::uint64_t steps) {
  return {"all reachable", steps, [](std::uint64_t) { return Birth{100, kForEver}; }};
}

}  // namespace ebb::test
