// Devices are found without a lock, so one that is closed may still be in another thread's hands:
// it is kept, trimmed, and taken again by the next opening of its kind. Only devices over a custom
// heap are destroyed when they close; C++ programs open those and see to it that nobody is using
// them.
#include "ebb/memory/device.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/fork.hpp"
#include "base/process_barrier.hpp"
#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"

namespace ebb {
namespace {

constexpr std::size_t kEverything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostCapacity = std::size_t{1} << (sizeof(std::size_t) == 8 ? 40 : 30);
constexpr unsigned kPagesBits = 32;  // of Device::records_
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kPagesMask = (std::uint64_t{1} << kPagesBits) - 1;

constinit std::array<std::atomic<HeapMaker>, kDeviceKinds> heap_makers{};
constinit std::atomic<const DeviceBooks*> device_books{nullptr};

std::unique_ptr<Heap> made_by_backend(const DeviceOptions& options) {
  const HeapMaker maker = heap_makers[static_cast<std::size_t>(options.kind)].load();
  if (maker == nullptr) {
    raise(ErrorKind::kUnsupported, "[device] {}: this build has no such devices", options.name);
  }
  return maker(options);
}

std::unique_ptr<Heap> make_heap(DeviceOptions& options) {
  switch (options.kind) {
    case DeviceKind::kSystem:
      return std::make_unique<SystemHeap>();
    case DeviceKind::kSimulated:
      // Room for any capacity: the device that is opened next here may have another, so the limit
      // above the heap holds it.
      return std::make_unique<SimulatedDevice>(
          SimulatedDeviceOptions{.capacity = kMostCapacity, .backed = true});
    case DeviceKind::kCustom:
      return std::move(options.heap);
    case DeviceKind::kCuda:
      return made_by_backend(options);
    case DeviceKind::kForeign:
      break;
  }
  return nullptr;
}

}  // namespace

DeviceKind kind_of_name(std::string_view name) noexcept {
  return name.starts_with("cuda:") ? DeviceKind::kCuda : DeviceKind::kSystem;
}

void install_heap_maker(DeviceKind kind, HeapMaker maker) noexcept {
  heap_makers[static_cast<std::size_t>(kind)].store(maker);
}

void install_device_books(const DeviceBooks& books) noexcept { device_books.store(&books); }

// Names. An id is an index and, above it, how often the index had been given back before. So an id
// comes once; an index that has had all its generations is not used again.
//
// Closing. Whoever uses a device by its id finds it without a lock, takes something of it (a block,
// a foreign tensor's bytes) and then looks whether it still has that id: if so it is the device
// that was meant, and it cannot close before that something ends. close() does the same from the
// other side: it takes the id away, and then looks whether anything is in use. The barrier between
// the two makes sure that one of them sees the other. Where close() finds that it was too late, the
// device gets its id back; whoever found none meanwhile asks again under the lock.
class DeviceRegistry {
 public:
  static DeviceRegistry& instance() {
    static DeviceRegistry* registry = [] {
      static constinit ForkHook hook{ForkRank::kDevices,
                                     []() noexcept { instance().mutex_.lock(); },
                                     []() noexcept { instance().mutex_.unlock(); },
                                     []() noexcept { instance().mutex_.unlock(); }};
      at_fork(hook);
      return std::make_unique<DeviceRegistry>().release();
    }();
    return *registry;
  }

  Device& open(DeviceOptions options) {
    std::lock_guard guard(mutex_);
    if (Device* known = find_open(options.name)) return open_again(*known, options);
    for (auto& device : devices_) {
      if (device != nullptr && device->openings_ == 0 && takes_over(*device, options)) {
        device->reopen(kept_name(options.name), options);
        return publish(*device);
      }
    }
    const DeviceIndex index = free_index();
    devices_[index] = std::make_unique<Device>(index, kept_name(options.name), options);
    return publish(*devices_[index]);
  }

  void close(Device& device) {
    std::lock_guard guard(mutex_);
    if (device.openings_ == 0) {
      raise(ErrorKind::kWrongState, "[device] {} is closed already", device.name());
    }
    close_open(device);
  }
  void close(DeviceId id) {
    std::lock_guard guard(mutex_);
    close_open(named(id));
  }
  void visit(DeviceId id, const std::function<void(Device&)>& use) {
    std::lock_guard guard(mutex_);
    use(named(id));
  }

  Device* find(DeviceId id) noexcept {
    if (Device* device = find_quickly(id)) return device;
    if (id == 0 || at(id % kMaxDevices) == nullptr) return nullptr;
    std::lock_guard guard(mutex_);  // it may be about to close, and stay open after all
    return find_quickly(id);
  }
  Device* find(std::string_view name) noexcept {
    std::lock_guard guard(mutex_);
    return find_open(name);
  }
  Device* at(DeviceIndex index) const noexcept {
    return index < kMaxDevices ? found_[index].load(std::memory_order_acquire) : nullptr;
  }

 private:
  static constexpr DeviceId kGenerations = DeviceId(-1) / kMaxDevices;

  Device* find_quickly(DeviceId id) const noexcept {
    Device* device = at(id % kMaxDevices);
    return device != nullptr && device->answers_to(id) ? device : nullptr;
  }
  Device& named(DeviceId id) const {
    Device* device = find_quickly(id);
    if (device == nullptr) {
      raise(ErrorKind::kStaleHandle, "[device] {} was closed, or never was", id);
    }
    return *device;
  }
  Device* find_open(std::string_view name) noexcept {
    for (auto& device : devices_) {
      if (device != nullptr && device->openings_ > 0 && device->name() == name) return device.get();
    }
    return nullptr;
  }
  static Device& open_again(Device& device, const DeviceOptions& options) {
    if (device.kind_ != options.kind || options.kind == DeviceKind::kCustom) {
      raise(ErrorKind::kInvalidArgument,
            "[device] \"{}\" is open already as another kind of device", options.name);
    }
    ++device.openings_;
    return device;
  }
  // A closed device is destroyed or kept for its kind; it is in the way only while it is kept.
  bool takes_over(const Device& kept, const DeviceOptions& options) const noexcept {
    return kept.kind() == options.kind && generations_[kept.index()] < kGenerations &&
           (kept.kind() != DeviceKind::kCuda || kept.name() == options.name);
  }
  DeviceIndex free_index() const {
    for (DeviceIndex index = 1; index < kMaxDevices; ++index)
      if (devices_[index] == nullptr && generations_[index] < kGenerations) return index;
    raise(ErrorKind::kWrongState,
          "[device] {} devices are open or were (a closed one is kept for its kind), no more are "
          "allowed",
          kMaxDevices - 1);
  }
  // Readers may have a name in their hands while the device is opened under another.
  const std::string& kept_name(std::string_view name) { return *names_.emplace(name).first; }

  Device& publish(Device& device) noexcept {
    device.openings_ = 1;
    const DeviceId id = generations_[device.index()] * kMaxDevices + device.index();
    device.id_.store(id, std::memory_order_release);
    device.records_.store(std::uint64_t{id} << kPagesBits);
    device.callable_.store(id, std::memory_order_release);
    found_[device.index()].store(&device, std::memory_order_release);
    return device;
  }

  void close_open(Device& device) {
    if (device.openings_ > 1) {
      --device.openings_;
      return;
    }
    refuse_if_used(device);
    const DeviceId id = device.callable_.exchange(0);
    static_cast<void>(process_barrier());  // where there is none the exchange is what we have
    try {
      refuse_if_used(device);
    } catch (...) {
      device.callable_.store(id, std::memory_order_release);
      throw;
    }
    device.id_.store(0, std::memory_order_release);
    device.records_.store(0);
    device.openings_ = 0;
    ++generations_[device.index()];
    found_[device.index()].store(nullptr, std::memory_order_release);
    if (const DeviceBooks* books = device_books.load()) books->closed(device);
    if (device.kind() == DeviceKind::kCustom) {
      devices_[device.index()].reset();
    } else {
      device.trim(kEverything);  // or the next opening had it, whatever its budget
    }
  }
  static void refuse_if_used(const Device& device) {
    const DeviceBooks* books = device_books.load();
    const std::uint64_t bytes = device.in_use();
    if (bytes == 0 && (books == nullptr || !books->in_use(device.index()))) return;
    raise(ErrorKind::kWrongState,
          "[device] {} has {} bytes in use; end its tensors before closing it", device.name(),
          bytes);
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMaxDevices> devices_;  // [0] stays empty
  std::array<std::atomic<Device*>, kMaxDevices> found_{};
  std::array<DeviceId, kMaxDevices> generations_{};  // how often an index was given back
  std::set<std::string, std::less<>> names_;         // of all devices there ever were
};

// Made when the library is loaded: a fork while another thread is making it would leave the child
// waiting for that.
[[maybe_unused]] static const DeviceRegistry& g_made_at_load = DeviceRegistry::instance();

Device& Device::open(DeviceOptions options) {
  if (options.name.empty()) raise(ErrorKind::kInvalidArgument, "[device] a name is needed");
  if (options.kind == DeviceKind::kSimulated &&
      (options.capacity == 0 || options.capacity > kMostCapacity)) {
    raise(ErrorKind::kInvalidArgument,
          "[device] {}: a capacity of {} was given, a simulated device needs one of 1 to {} bytes",
          options.name, options.capacity, kMostCapacity);
  }
  if (options.kind == DeviceKind::kCustom && options.heap == nullptr) {
    raise(ErrorKind::kInvalidArgument, "[device] {}: a custom device needs a heap", options.name);
  }
  return DeviceRegistry::instance().open(std::move(options));
}

void Device::close(Device& device) { DeviceRegistry::instance().close(device); }
void Device::close(DeviceId id) { DeviceRegistry::instance().close(id); }
Device* Device::find(DeviceId id) noexcept { return DeviceRegistry::instance().find(id); }
void Device::visit(DeviceId id, const std::function<void(Device&)>& use) {
  DeviceRegistry::instance().visit(id, use);
}
Device* Device::at(DeviceIndex index) noexcept { return DeviceRegistry::instance().at(index); }
Device* Device::find(std::string_view name) noexcept {
  return DeviceRegistry::instance().find(name);
}

Device::Device(DeviceIndex index, const std::string& name, DeviceOptions& options)
    : index_(index), kind_(options.kind), name_(&name), heap_(make_heap(options)) {
  if (heap_ != nullptr) {
    limit_ = std::make_unique<LimitHeap>(*heap_, kEverything, static_cast<std::uint8_t>(index));
    pool_ = std::make_unique<Pool>(*limit_);
    link_ = heap_->link();
  }
  reopen(name, options);
}

void Device::reopen(const std::string& name, const DeviceOptions& options) {
  name_.store(&name, std::memory_order_release);
  capacity_ = kind_ == DeviceKind::kSimulated ? options.capacity : kEverything;
  foreign_peak_.store(0, std::memory_order_relaxed);
  if (pool_ != nullptr) pool_->reset_peak();
  // Of a GPU, a share of what was free: others use it too.
  const bool share = kind_ == DeviceKind::kCuda && options.budget == 0;
  set_budget(share ? heap_->traits().capacity : options.budget, options.mode);
}

void Device::set_budget(std::uint64_t bytes, BudgetMode mode) {
  const std::size_t granule = heap_ == nullptr ? 0 : heap_->traits().granule;
  if (bytes != 0 && bytes < granule) {
    raise(ErrorKind::kInvalidArgument,
          "[device] {}: a budget of {} was given, but its memory comes {} at a time: at least that "
          "is needed, or 0 for none",
          name(), format_bytes(bytes), format_bytes(granule));
  }
  budget_.store(bytes, std::memory_order_relaxed);
  mode_.store(mode, std::memory_order_relaxed);
  ceiling_.store(0, std::memory_order_relaxed);
  if (limit_ == nullptr) return;
  apply_limit();
  trims_to_skip_.store(0, std::memory_order_relaxed);
  last_skip_.store(0, std::memory_order_relaxed);
  if (over_committed()) trim_to_budget();
}

// What the heap may commit: the limit, less the records.
std::size_t Device::heap_limit() const noexcept {
  const std::uint64_t bytes = limit();
  const std::uint64_t left = bytes - std::min(bytes, record_bytes());
  return bytes == 0 || left > capacity_ ? capacity_ : std::size_t(left);
}

// Whoever changes what the limit is made of looks again after setting it, so the last one is right.
void Device::apply_limit() noexcept {
  do {
    limit_->set_limit(heap_limit());
  } while (limit_->limit() != heap_limit());
}

// ---- records

std::uint64_t Device::whole_granules(std::uint64_t records) const noexcept {
  if (kind_ != DeviceKind::kSystem) return 0;
  const std::uint64_t bytes = (records & kPagesMask) * kPageBytes;
  return bytes - bytes % heap_->traits().granule;
}

bool Device::allows(std::uint64_t records) const noexcept {
  const std::uint64_t bytes = limit(), counted = whole_granules(records);
  if (bytes == 0 || counted == record_bytes()) return true;
  return counted <= bytes && limit_->committed() <= bytes - counted;
}

std::optional<DeviceId> Device::charge_records(std::size_t bytes) noexcept {
  const DeviceId payer = id();
  if (kind_ != DeviceKind::kSystem || payer == 0) return DeviceId{0};
  std::uint64_t seen = records_.load();
  std::uint64_t after = 0;
  do {
    after = seen + bytes / kPageBytes;
    if (seen >> kPagesBits != payer) return DeviceId{0};
    if (!allows(after)) return std::nullopt;
  } while (!records_.compare_exchange_weak(seen, after));
  if (whole_granules(after) != whole_granules(seen)) apply_limit();
  return payer;
}

void Device::refund_records(DeviceId payer, std::size_t bytes) noexcept {
  Device* device = payer == 0 ? nullptr : at(payer % kMaxDevices);
  if (device == nullptr) return;
  std::uint64_t seen = device->records_.load();
  std::uint64_t after = 0;
  do {
    after = seen - bytes / kPageBytes;
    if (seen >> kPagesBits != payer) return;
  } while (!device->records_.compare_exchange_weak(seen, after));
  if (device->whole_granules(after) != device->whole_granules(seen)) device->apply_limit();
}

void Device::let_records_pass() noexcept {
  const std::uint64_t granule = heap_->traits().granule;
  set_ceiling(std::max(ceiling(), limit_->committed() + record_bytes() + granule));
}

void Device::set_ceiling(std::uint64_t bytes) noexcept {
  ceiling_.store(bytes, std::memory_order_relaxed);
  if (limit_ != nullptr) apply_limit();
}

// Other threads may pass the limit meanwhile: a soft one does not mind.
Block Device::allocate_past_budget(std::size_t bytes, StreamId stream) noexcept {
  limit_->set_limit(capacity_);
  const Block block = pool_->allocate(bytes, stream);
  set_ceiling(std::max<std::uint64_t>(ceiling(), limit_->committed() + record_bytes()));
  return block;
}

bool Device::trim_to_budget() noexcept {
  const std::size_t committed = limit_->committed();
  const std::size_t limit = limit_->limit();
  return committed > limit && pool_->trim(committed - limit) != 0;
}

// What is in use does not come back by being asked for at every allocation. After a trim that gave
// nothing the next allocations go without, twice as many each time. Threads that race here trim
// once more or less.
void Device::trim_to_budget_in_turn() noexcept {
  constexpr std::uint32_t kMostSkipped = 256;
  const std::uint32_t left = trims_to_skip_.load(std::memory_order_relaxed);
  if (left != 0) return trims_to_skip_.store(left - 1, std::memory_order_relaxed);
  const std::uint32_t last = last_skip_.load(std::memory_order_relaxed);
  const std::uint32_t next = trim_to_budget() ? 0 : std::clamp(2 * last, 1u, kMostSkipped);
  last_skip_.store(next, std::memory_order_relaxed);
  trims_to_skip_.store(next, std::memory_order_relaxed);
}

std::size_t Device::trim(std::size_t bytes) noexcept {
  if (foreign()) return 0;
  pool_->wait_pending();
  return pool_->trim(bytes);
}

void Device::raise_peak(std::uint64_t bytes) noexcept {
  std::uint64_t peak = foreign_peak_.load(std::memory_order_relaxed);
  while (bytes > peak &&
         !foreign_peak_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
  }
}

std::uint64_t Device::in_use() const noexcept {
  if (!foreign()) return pool_->stats().in_use;
  const DeviceBooks* const books = device_books.load();
  const std::uint64_t kept = books == nullptr ? 0 : books->credit(index_);
  const std::uint64_t drawn = foreign_bytes_.load();
  return drawn - std::min(drawn, kept);  // the two may change in between
}
std::uint64_t Device::committed() const noexcept {
  return foreign() ? in_use() : limit_->committed();
}
std::uint64_t Device::peak_committed() const noexcept {
  return foreign() ? foreign_peak_.load(std::memory_order_relaxed) : pool_->stats().peak_committed;
}

}  // namespace ebb
