// The books: what they say, whether they balance, and who holds what.
#include <algorithm>
#include <mutex>
#include <optional>

#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/tensor/context.hpp"
#include "tensor/context_body.hpp"
#include "tensor/context_registry.hpp"
#include "tensor/visit.hpp"

namespace ebb {
namespace {

constexpr std::size_t kNamedSites = 10;

std::vector<SiteHolding> by_bytes(const std::map<SiteId, SiteHolding>& sites) {
  std::vector<SiteHolding> sorted;
  sorted.reserve(sites.size());
  for (const auto& [site, holding] : sites) sorted.push_back(holding);
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const SiteHolding& holding) { return holding.live.bytes; });
  return sorted;
}

// The largest holders, a line each, for messages that a person reads.
std::string name_holders(const Device* device) {
  const auto holdings = Context::total_holdings(device);
  std::string lines;
  for (std::size_t i = 0; i < std::min(holdings.size(), kNamedSites); ++i) {
    const SiteHolding& holding = holdings[i];
    const std::string_view frame = first_frame(SiteTable::instance().text(holding.site));
    lines += fmt::format("\n  {:>8} in {} tensors{}: {}", format_bytes(holding.live.bytes),
                         holding.live.count,
                         holding.orphans == 0 ? "" : fmt::format(" ({} orphaned)", holding.orphans),
                         frame.empty() ? "unknown site (trace to see it)" : frame);
  }
  return lines.empty() ? "\n  no live tensors" : lines;
}

void add(MemoryReading& sum, const MemoryReading& part) {
  sum.books += part.books;
  sum.orphans += part.orphans;
  sum.peak_orphans += part.peak_orphans;
  sum.regions += part.regions;
  sum.record_bytes += part.record_bytes;
  sum.collections.minor += part.collections.minor;
  sum.collections.major += part.collections.major;
  sum.collections.total_ns += part.collections.total_ns;
  sum.collections.longest_ns = std::max(sum.collections.longest_ns, part.collections.longest_ns);
  sum.lag_last_ns = std::max(sum.lag_last_ns, part.lag_last_ns);
  sum.lag_max_ns = std::max(sum.lag_max_ns, part.lag_max_ns);
}

[[noreturn]] void off(std::string_view where, std::string_view sum, std::uint64_t left,
                      std::uint64_t right) {
  raise(ErrorKind::kInternal, "[audit] {}: {}: {} != {}", where, sum, left, right);
}

}  // namespace

Books ContextBody::books(const Device* device) const noexcept {
  if (device != nullptr) return ledgers_[device->index()].books();
  Books sum;
  for (const Ledger& ledger : ledgers_) sum += ledger.books();
  return sum;
}

MemoryReading ContextBody::memory(ContextId id, const Device* device) {
  Lock lock = enter(id, "memory");
  MemoryReading reading = read(lock, device);
  if (!serves(id)) raise_ended(lock, "memory");
  return reading;
}

MemoryReading ContextBody::read(Lock& lock, const Device* device) {
  take_notices(lock);
  MemoryReading reading;
  reading.books = books(device);
  reading.orphans = handles_.orphans().waiting();
  reading.peak_orphans = handles_.orphans().peak();
  reading.regions = regions_ == nullptr ? 0 : regions_->open_count();
  reading.record_bytes = record_bytes();
  reading.collections = governor_->costs();
  reading.lag_last_ns = handles_.orphans().lag_last_ns();
  reading.lag_max_ns = handles_.orphans().lag_max_ns();
  return reading;
}

std::uint64_t ContextBody::record_bytes() const noexcept {
  return handles_.bytes() + storages_.bytes() + layouts_.bytes() + keys_.bytes() +
         (regions_ == nullptr ? 0 : regions_->bytes());
}

MemoryReading ContextBody::total_memory(const Device* device) {
  MemoryReading sum = ContextRegistry::instance().ended(device);
  for_each_stock([&](const auto& stock) { sum.record_bytes += stock.kept_bytes(); });
  ContextRegistry::instance().for_each([&](ContextBody& context) {
    Lock lock(context.lock_);
    add(sum, context.read(lock, device));
  });
  return sum;
}

// The law for one context: its counters against each other and against its tables.
void ContextBody::audit_own() {
  std::lock_guard guard(lock_);
  const Books sum = books(nullptr);
  for (const Ledger& ledger : ledgers_) {
    const Books& each = ledger.books();
    if (!each.balanced()) off(options_.name, "created = live + ended", each.created, each.live);
  }
  std::uint64_t tensors = 0, queued = 0, strided = 0;
  for (std::size_t c = 0; c < handles_.chunk_end(); ++c) {
    for (const TensorRecord& record : handles_.chunk(c)) {
      if (!record.live() || record.has(TensorRecord::kHold)) continue;
      ++tensors;
      queued += record.has(TensorRecord::kWaiting) ? 1 : 0;
      strided += record.has(TensorRecord::kStrided) ? 1 : 0;
    }
  }
  if (tensors != sum.live) off(options_.name, "live tensors = handles", sum.live, tensors);
  if (queued != handles_.orphans().waiting())
    off(options_.name, "orphans", handles_.orphans().waiting(), queued);
  // arithmetic: of what is booked
  const std::uint64_t pressure = sum.storages.bytes + sum.live * options_.name_bytes;
  if (pressure_.load(std::memory_order_relaxed) != pressure) {
    off(options_.name, "pressure = live bytes and names", pressure_, pressure);
  }
  const std::uint64_t layouts = layouts_.count();
  if (layouts != strided) off(options_.name, "layouts = strided tensors", layouts, strided);
  const std::uint64_t storages = storages_.count();
  if (storages != sum.storages.count + sum.held.count) {
    off(options_.name, "storages = live + held", storages, sum.storages.count + sum.held.count);
  }
  const std::uint64_t owned = regions_ == nullptr ? 0 : regions_->owned_count();
  if (owned != sum.live) off(options_.name, "owned by regions = live tensors", owned, sum.live);
}

void ContextBody::audit() {
  std::array<std::uint64_t, kMaxDevices> booked{};
  ContextRegistry::instance().for_each([&](ContextBody& context) {
    context.audit_own();
    std::lock_guard guard(context.lock_);
    for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
      const Books& books = context.ledgers_[i].books();
      booked[i] += books.storages.bytes + books.held.bytes;
    }
  });
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    const Device* device = Device::at(i);
    const std::uint64_t in_use = device == nullptr ? 0 : device->in_use();
    if (in_use != booked[i]) {
      off(device == nullptr ? "a closed device" : device->name(), "bytes in use = storages", in_use,
          booked[i]);
    }
  }
}

void ContextBody::gather_holdings(const Device* device, By by,
                                  std::map<SiteId, SiteHolding>& sites) {
  struct Seen {
    const Device* device;
    SiteId site;
    std::uint64_t bytes;
    bool orphaned;
  };
  const auto look = [&](const TensorRecord& record) {
    const Storage& storage = *record.storage;
    return Seen{storage.device, by == By::kSite ? record.site : record.region->label,
                storage.bytes / storage.tensors, HandleTable::is_noticed(record)};
  };
  for_each_row<Seen>(false, look, [&](const Seen& seen) {
    if (device != nullptr && seen.device != device) return;
    SiteHolding& holding = sites[seen.site];
    holding.site = seen.site;
    holding.live.add(seen.bytes);
    holding.orphans += seen.orphaned ? 1 : 0;
  });
}

std::vector<SiteHolding> ContextBody::holdings(ContextId id, const Device* device, By by) {
  Lock lock = enter(id, "holdings");
  const Visit visit(*this, lock);  // it stays the one that is gone over
  lock.unlock();
  std::map<SiteId, SiteHolding> sites;
  gather_holdings(device, by, sites);
  return by_bytes(sites);
}

std::vector<SiteHolding> ContextBody::total_holdings(const Device* device, By by) {
  std::map<SiteId, SiteHolding> sites;
  ContextRegistry::instance().for_each(
      [&](ContextBody& context) { context.gather_holdings(device, by, sites); });
  return by_bytes(sites);
}

void ContextBody::raise_out_of_memory(Device& device, std::uint64_t bytes, std::string_view who) {
  if (device.link() != nullptr) device.link()->check();  // a lost device has no memory either
  const Books books = total_memory(&device).books;
  const std::uint64_t budget = device.budget(), records = device.record_bytes();
  throw OutOfMemory(fmt::format(
      "[{}] {} {}: {}, {} taken{}, {} of them in {} live tensors; reclaim is {}. Largest "
      "holders:{}",
      who, device.name(), bytes == 0 ? "is full" : "has no room for " + format_bytes(bytes),
      budget == 0 ? "no budget" : "budget " + format_bytes(budget),
      format_bytes(device.committed() + records),
      records == 0 ? "" : fmt::format(" ({} by records of tensors)", format_bytes(records)),
      format_bytes(books.storages.bytes), books.live, reclaiming() ? "on" : "off",
      name_holders(&device)));
}

void ContextBody::raise_no_names(std::string_view who) {
  const MemoryReading all = total_memory(nullptr);
  const auto& names = SlotSpace<TensorRecord>::stock();
  std::unique_lock lock(lock_);
  const std::uint64_t here = books(nullptr).live;
  lock.unlock();
  throw OutOfMemory(fmt::format(
      "[{}] no name is left for one more tensor: {} are alive, {} of them in this context, {} have "
      "been dropped and wait for a safe point; {} are allowed, and a context has names {} at a "
      "time "
      "({} of {} times). Reclaim is {}. End tensors that are not needed: dispose them, close their "
      "region, or switch reclaim on. Largest holders:{}",
      who, all.books.live, here, all.orphans, SlotSpace<TensorRecord>::most_names(), kChunkSlots,
      names.taken(), names.most(), reclaiming() ? "on" : "off", name_holders(nullptr)));
}

void ContextBody::warn_overrun(Device& device) {
  const std::uint32_t bit = 1u << device.index();
  if ((warned_devices_.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  const std::string message = fmt::format(
      "{} holds {} that the program can still reach, over its budget of {}; going on. Up to a "
      "quarter "
      "of the time goes to collecting, to stay below 1.5 x of what is reachable; beyond that "
      "memory "
      "grows. Largest holders:{}",
      device.name(), format_bytes(device.in_use()), format_bytes(device.budget()),
      name_holders(&device));
  Lock lock(lock_);
  Visit visit(*this, lock);
  Host* const host = host_;
  lock.unlock();
  if (host != nullptr) host->warn(message);
}

}  // namespace ebb
