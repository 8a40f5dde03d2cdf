// Plans by shape, the least recently used given up first.
//
// One cache a thread: a plan's memory objects are pointed at data in each run, so a plan shared
// between threads would need a lock for as long as it runs. What is dear in a plan, the generated
// code, is shared all the same: oneDNN keeps its own cache of primitives below, for all threads.
#pragma once

#include <list>
#include <unordered_map>

#include "backends/cpu/dnn_gate.hpp"
#include "backends/cpu/dnn_plan.hpp"
#include "backends/plan_key.hpp"

namespace ebb::cpu {

using backends::PlanKey;

class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}

  // The plan of `key`, made by make() where there is none yet. It stays until as many others as the
  // cache holds have been asked for.
  template <typename Make>
  Plan& get(const PlanKey& key, Make&& make) {
    if (!plans_.empty() && plans_.front().key == key) return plans_.front().plan;
    if (const auto found = places_.find(key); found != places_.end()) {
      plans_.splice(plans_.begin(), plans_, found->second);
      return found->second->plan;
    }
    const DnnUse use;
    plans_.push_front({key, make()});
    try {
      places_.emplace(key, plans_.begin());
    } catch (...) {
      plans_.pop_front();
      throw;
    }
    if (plans_.size() > capacity_) {
      places_.erase(plans_.back().key);
      plans_.pop_back();
    }
    return plans_.front().plan;
  }

  std::size_t size() const noexcept { return plans_.size(); }

  // This thread's, gone with it; at the end of the process it is left as it is (dnn_gate.hpp).
  static PlanCache& here();

 private:
  struct Entry {
    PlanKey key;
    Plan plan;
  };
  std::size_t capacity_;
  std::list<Entry> plans_;  // most recently used first
  std::unordered_map<PlanKey, std::list<Entry>::iterator, PlanKey::Hash> places_;
};

}  // namespace ebb::cpu
