// What was worked out once for a shape: plans by a list of numbers. One cache a thread, so that a
// plan may be written to while it runs.
#pragma once

#include <memory>
#include <unordered_map>

#include "backends/plan_key.hpp"

namespace ebb::cuda {

using backends::PlanKey;

template <typename Plan>
class ShapeCache {
 public:
  // The plan of `key`, made by make() where there is none. Valid until the next call.
  template <typename Make>
  Plan& get(const PlanKey& key, Make&& make) {
    if (const auto found = plans_.find(key); found != plans_.end()) return *found->second;
    // Shapes that never come again would pile up; starting over costs one choice for each in use.
    if (plans_.size() >= kMost) plans_.clear();
    return *plans_.emplace(key, std::make_unique<Plan>(make())).first->second;
  }

 private:
  static constexpr std::size_t kMost = 1024;
  std::unordered_map<PlanKey, std::unique_ptr<Plan>, PlanKey::Hash> plans_;
};

}  // namespace ebb::cuda
