#include "program/kept.hpp"

namespace ebb::programs {

Kept::Source Kept::source_of(const Plan& plan, const ops::RunPlace& place,
                             std::span<const Handle> given) {
  Source made{.context = place.context.id(), .device = &place.device, .weights = {}};
  made.weights.reserve(plan.kept_of.size());
  for (const std::size_t i : plan.kept_of) made.weights.push_back(given[i]);
  return made;
}

KeptTensors Kept::find(const Plan& plan, const ops::RunPlace& place,
                       std::span<const Handle> given) {
  if (plan.kept.empty() || given.size() != plan.given.size() || !can_keep(plan, place.device)) {
    return nullptr;
  }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || given_up_) return nullptr;
  Source source = source_of(plan, place, given);
  if (source != last_) {
    tensors_ = nullptr;
    last_ = std::move(source);
    return nullptr;
  }
  if (tensors_ != nullptr) return tensors_;
  try {
    // Of no scope of the caller's.
    const ops::RunPlace root{place.context, place.device, 0, place.site, place.stream};
    tensors_ = std::make_shared<const std::vector<Tensor>>(PlanRun(plan, root, given).make_kept());
  } catch (const OutOfMemory&) {
    given_up_ = true;  // the run goes without
  } catch (const std::bad_alloc&) {
    given_up_ = true;
  }
  return tensors_;
}

bool Kept::let_go() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  const bool had = tensors_ != nullptr;
  tensors_ = nullptr;
  return had;
}

std::size_t Kept::count() const {
  const std::lock_guard lock(mutex_);
  return tensors_ == nullptr ? 0 : tensors_->size();
}

}  // namespace ebb::programs
