#include "tensor/context_registry.hpp"

#include <algorithm>

#include "ebb/base/error.hpp"
#include "tensor/context_state.hpp"

namespace ebb {

ContextRegistry& ContextRegistry::instance() {
  static ContextRegistry* registry = std::make_unique<ContextRegistry>().release();
  return *registry;
}

Context& ContextRegistry::create(ContextOptions options) {
  std::lock_guard guard(mutex_);
  auto cell = std::ranges::find(cells_, false, &Cell::taken);
  if (cell == cells_.end()) {
    if (cells_.size() == kMost) {
      raise(ErrorKind::kWrongState, "[context] {} contexts are open, no more are allowed", kMost);
    }
    cells_.emplace_back();
    cell = cells_.end() - 1;
  }
  if (cell->context == nullptr) cell->context.reset(new Context());
  const auto index = static_cast<std::uint64_t>(cell - cells_.begin());
  const std::uint64_t id = std::uint64_t{cell->generation + 1} << kSlotIndexBits | index;
  cell->context->reopen(std::move(options), id);
  ++cell->generation;
  cell->taken = true;
  found_[index].store(cell->context.get(), std::memory_order_release);
  return *cell->context;
}

Context* ContextRegistry::find(std::uint64_t id) const noexcept {
  const std::uint32_t index = index_of(id);
  if (index >= kMost) return nullptr;
  Context* context = found_[index].load(std::memory_order_acquire);
  return context != nullptr && context->id() == id ? context : nullptr;
}

void ContextRegistry::forget(std::uint64_t id) noexcept {
  found_[index_of(id)].store(nullptr, std::memory_order_release);
}

void ContextRegistry::recycle(Context& context) noexcept {
  std::scoped_lock guard(mutex_, context.lock_);
  auto& ended = context.backing() ? ended_backing_ : ended_;
  for (DeviceId i = 0; i < kMaxDevices; ++i) {
    ended[i] += context.ledgers_[i].books();
    context.ledgers_[i] = Ledger();
  }
  const CollectionCosts costs = context.governor_->costs();
  ended_costs_.minor += costs.minor;
  ended_costs_.major += costs.major;
  ended_costs_.total_ns += costs.total_ns;
  ended_costs_.longest_ns = std::max(ended_costs_.longest_ns, costs.longest_ns);
  context.records_.clear();
  context.regions_.reset();
  context.host_ = nullptr;
  std::ranges::find(cells_, &context, [](const Cell& cell) { return cell.context.get(); })->taken =
      false;
}

MemoryReading ContextRegistry::ended(const Device* device) const {
  std::lock_guard guard(mutex_);
  MemoryReading reading;
  for (DeviceId i = 0; i < kMaxDevices; ++i) {
    if (device == nullptr || device->id() == i) reading.books += ended_[i];
    if (device != nullptr && device->id() == i) reading.books += ended_backing_[i];
  }
  reading.collections = ended_costs_;
  return reading;
}

}  // namespace ebb
