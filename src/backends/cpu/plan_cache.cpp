#include "backends/cpu/plan_cache.hpp"

#include <memory>

namespace ebb::cpu {
namespace {

// More than the layers of a large network, forward and backward.
constexpr std::size_t kPlansPerThread = 1024;

}  // namespace

PlanCache& PlanCache::here() {
  thread_local std::unique_ptr<PlanCache> cache;
  if (!cache) {
    cache = std::make_unique<PlanCache>(kPlansPerThread);
  }
  return *cache;
}

}  // namespace ebb::cpu
