#include "backends/cpu/plan_cache.hpp"

#include <memory>

namespace ebb::cpu {
namespace {

// More than the layers of a large network, forward and backward.
constexpr std::size_t kPlansPerThread = 1024;

struct Owner {
  ~Owner() { clear(); }
  void clear() noexcept {
    if (cache == nullptr) return;
    destroy_unless_ending([](void* plans) noexcept { delete static_cast<PlanCache*>(plans); },
                          cache);
    cache = nullptr;
  }

  PlanCache* cache = nullptr;
  unsigned forks = 0;
};

}  // namespace

PlanCache& PlanCache::here() {
  thread_local Owner owner;
  if (owner.forks != forks_behind()) owner.clear();
  if (owner.cache == nullptr) {
    owner.cache = std::make_unique<PlanCache>(kPlansPerThread).release();
    owner.forks = forks_behind();
  }
  return *owner.cache;
}

}  // namespace ebb::cpu
