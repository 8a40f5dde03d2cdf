#include "tensor/context_registry.hpp"

#include <algorithm>
#include <utility>

#include "base/fork.hpp"
#include "ebb/base/error.hpp"
#include "tensor/context_body.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

bool in_use(const Books& books) noexcept {
  return books.live != 0 || books.storages.count != 0 || books.held.count != 0;
}

}  // namespace

// The locks of all contexts, taken before a fork. The child has one thread: what the others were
// doing in a context will not end, so nobody waits for it there.
class ContextRegistry::Fork {
 public:
  static constinit ForkHook hook;

 private:
  template <typename Use>
  static void for_all(Use&& use) noexcept {
    for (Cell& cell : instance().cells_) {
      if (cell.context != nullptr) use(*cell.context);
    }
  }
  static void take() noexcept {
    instance().mutex_.lock();
    for_all([](ContextBody& context) { context.lock_.lock_for_fork(); });
    ContextBody::for_each_stock([](auto& stock) { stock.mutex().lock(); });
  }
  static void give() noexcept {
    ContextBody::for_each_stock([](auto& stock) { stock.mutex().unlock(); });
    for_all([](ContextBody& context) { context.lock_.unlock(); });
    instance().mutex_.unlock();
  }
  static void give_in_child() noexcept {
    for_all([](ContextBody& context) { context.go_on_alone(); });
    HandleTable::Space::forget_marks_of_nobody();
    give();
  }
};

constinit ForkHook ContextRegistry::Fork::hook{ForkRank::kContexts, take, give, give_in_child};

ContextRegistry::ContextRegistry() { at_fork(Fork::hook); }

// Made when the library is loaded, as what is locked at a fork has to be.
[[maybe_unused]] static const ContextRegistry& g_made_at_load = ContextRegistry::instance();

ContextRegistry& ContextRegistry::instance() {
  static ContextRegistry* registry = [] {
    static constexpr DeviceBooks kBooks{
        [](DeviceIndex index) noexcept { return instance().uses(index); },
        [](Device& device) noexcept { instance().close_books(device); },
        [](DeviceIndex index) noexcept { return instance().credit(index); }};
    install_device_books(kBooks);
    return std::make_unique<ContextRegistry>().release();
  }();
  return *registry;
}

bool ContextRegistry::uses(DeviceIndex index) {
  bool used = false;
  for_each([&](ContextBody& context) {
    std::lock_guard guard(context.lock_);
    used |= in_use(context.ledgers_[index].books());
  });
  return used;
}

// Whoever found the device before it closed may be making something on it, which ends when he looks
// at its name again. Books in which that is begun stay, so that it ends in the same.
void ContextRegistry::close_books(Device& device) noexcept {
  const DeviceIndex index = device.index();
  for_each([&](ContextBody& context) {
    std::lock_guard guard(context.lock_);
    if (in_use(context.ledgers_[index].books())) return;
    context.ledgers_[0] += std::exchange(context.ledgers_[index], Ledger());
    context.last_births_[index].store(0, std::memory_order_relaxed);
    context.credits_[index].give_back(device);
  });
  std::lock_guard guard(mutex_);
  ended_[0] += std::exchange(ended_[index], Books());
}

// Bodies are found in the order in which they were made, and stay.
std::uint64_t ContextRegistry::credit(DeviceIndex index) const noexcept {
  std::uint64_t sum = 0;
  for (const auto& found : found_) {
    const ContextBody* context = found.load(std::memory_order_acquire);
    if (context == nullptr) break;
    sum += context->credits_[index].bytes();
  }
  return sum;
}

std::pair<ContextBody&, ContextId> ContextRegistry::create(ContextOptions options) {
  std::lock_guard guard(mutex_);
  auto cell = std::ranges::find_if(
      cells_, [](const Cell& each) { return !each.taken && each.generation < kLastGeneration; });
  if (cell == cells_.end()) {
    if (cells_.size() == kMost) {
      raise(ErrorKind::kWrongState,
            "[context] {} contexts are open, or have ended while their memory is held: no more are "
            "allowed",
            kMost);
    }
    cells_.emplace_back();
    cell = cells_.end() - 1;
  }
  if (cell->context == nullptr) cell->context.reset(new ContextBody());
  const auto index = static_cast<std::uint64_t>(cell - cells_.begin());
  const ContextId id = std::uint64_t{cell->generation + 1} << kSlotIndexBits | index;
  cell->context->reopen(std::move(options), id);
  ++cell->generation;
  cell->taken = true;
  found_[index].store(cell->context.get(), std::memory_order_release);
  return {*cell->context, id};
}

ContextBody* ContextRegistry::find(ContextId id) const noexcept {
  const std::uint32_t index = index_of(id);
  if (index >= kMost) return nullptr;
  ContextBody* context = found_[index].load(std::memory_order_acquire);
  return context != nullptr && context->serves(id) ? context : nullptr;
}

void ContextRegistry::recycle(ContextBody& context) noexcept {
  std::scoped_lock guard(mutex_, context.lock_);
  for (DeviceIndex i = 0; i < kMaxDevices; ++i) {
    ended_[i] += context.ledgers_[i].books();
    context.ledgers_[i] = Ledger();
  }
  const CollectionCosts costs = context.governor_->costs();
  ended_costs_.minor += costs.minor;
  ended_costs_.major += costs.major;
  ended_costs_.total_ns += costs.total_ns;
  ended_costs_.longest_ns = std::max(ended_costs_.longest_ns, costs.longest_ns);
  context.handles_.clear();
  context.storages_.clear();
  context.layouts_.clear();
  context.regions_.reset();
  context.host_ = nullptr;
  std::ranges::find(cells_, &context, [](const Cell& cell) { return cell.context.get(); })->taken =
      false;
}

MemoryReading ContextRegistry::ended(const Device* device) const {
  std::lock_guard guard(mutex_);
  MemoryReading reading;
  for (DeviceIndex i = 0; i < kMaxDevices; ++i) {
    if (device == nullptr || device->index() == i) reading.books += ended_[i];
  }
  reading.collections = ended_costs_;
  return reading;
}

}  // namespace ebb
