// Devices are found without a lock, so one that is closed may still be in another thread's hands:
// it is kept, trimmed, and taken again by the next opening of its kind. Only devices over a custom
// heap are destroyed when they close; C++ programs open those and see to it that nobody is using
// them.
#include "ebb/memory/device.hpp"

#include <algorithm>
#include <limits>

#include "ebb/base/error.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"

namespace ebb {
namespace {

constexpr std::size_t kEverything = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kMostCapacity = std::size_t{1} << 40;

constinit std::array<std::atomic<HeapMaker>, kDeviceKinds> heap_makers{};

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

// A kept device serves the next of its kind; a GPU only the next of its name.
bool takes_over(const Device& kept, const DeviceOptions& options) noexcept {
  return kept.kind() == options.kind &&
         (kept.kind() != DeviceKind::kCuda || kept.name() == options.name);
}

}  // namespace

DeviceKind kind_of_name(std::string_view name) noexcept {
  return name.starts_with("cuda:") ? DeviceKind::kCuda : DeviceKind::kSystem;
}

void install_heap_maker(DeviceKind kind, HeapMaker maker) noexcept {
  heap_makers[static_cast<std::size_t>(kind)].store(maker);
}

class DeviceRegistry {
 public:
  static DeviceRegistry& instance() {
    static DeviceRegistry* registry = std::make_unique<DeviceRegistry>().release();
    return *registry;
  }

  Device& open(DeviceOptions options) {
    std::lock_guard guard(mutex_);
    if (Device* known = find_open(options.name)) return open_again(*known, options);
    for (auto& device : devices_) {
      if (device != nullptr && device->openings_ == 0 && takes_over(*device, options)) {
        device->reopen(std::move(options));
        return publish(*device);
      }
    }
    const auto free = std::find(devices_.begin() + 1, devices_.end(), nullptr);
    if (free == devices_.end()) {
      raise(ErrorKind::kWrongState,
            "[device] {} devices are open or were (a closed one is kept for its kind), no more are "
            "allowed",
            kMaxDevices - 1);
    }
    const auto id = static_cast<DeviceId>(free - devices_.begin());
    *free = std::make_unique<Device>(id, std::move(options));
    return publish(**free);
  }

  void close(Device& device) {
    std::lock_guard guard(mutex_);
    if (device.openings_ == 0) {
      raise(ErrorKind::kWrongState, "[device] {} is closed already", device.name());
    }
    if (device.openings_ == 1 && device.in_use() != 0) {
      raise(ErrorKind::kWrongState,
            "[device] {} has {} bytes in use; end its tensors before closing it", device.name(),
            device.in_use());
    }
    if (--device.openings_ > 0) return;
    found_[device.id()].store(nullptr, std::memory_order_release);
    if (device.kind() == DeviceKind::kCustom) {
      devices_[device.id()].reset();
    } else {
      device.trim(kEverything);  // or the next opening had it, whatever its budget
    }
  }

  Device* find(DeviceId id) const noexcept {
    return id < kMaxDevices ? found_[id].load(std::memory_order_acquire) : nullptr;
  }
  Device* find(std::string_view name) noexcept {
    std::lock_guard guard(mutex_);
    return find_open(name);
  }

 private:
  Device* find_open(std::string_view name) noexcept {
    for (auto& device : devices_) {
      if (device != nullptr && device->openings_ > 0 && device->name_ == name) return device.get();
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
  Device& publish(Device& device) {
    device.openings_ = 1;
    found_[device.id()].store(&device, std::memory_order_release);
    return device;
  }

  std::mutex mutex_;
  std::array<std::unique_ptr<Device>, kMaxDevices> devices_;  // [0] stays empty
  std::array<std::atomic<Device*>, kMaxDevices> found_{};
};

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
Device* Device::find(DeviceId id) noexcept { return DeviceRegistry::instance().find(id); }
Device* Device::find(std::string_view name) noexcept {
  return DeviceRegistry::instance().find(name);
}

Device::Device(DeviceId id, DeviceOptions options)
    : id_(id), kind_(options.kind), heap_(make_heap(options)) {
  if (heap_ != nullptr) {
    limit_ = std::make_unique<LimitHeap>(*heap_);
    pool_ = std::make_unique<Pool>(*limit_);
    link_ = heap_->link();
  }
  reopen(std::move(options));
}

void Device::reopen(DeviceOptions options) {
  name_ = std::move(options.name);
  capacity_ = kind_ == DeviceKind::kSimulated ? options.capacity : kEverything;
  foreign_peak_.store(0, std::memory_order_relaxed);
  if (kind_ == DeviceKind::kCuda && options.budget == 0) {
    options.budget = heap_->traits().capacity;  // a share of what was free: others use it too
  }
  set_budget(options.budget, options.mode);
}

void Device::set_budget(std::uint64_t bytes, BudgetMode mode) noexcept {
  budget_.store(bytes, std::memory_order_relaxed);
  mode_.store(mode, std::memory_order_relaxed);
  if (limit_ == nullptr) return;
  const std::size_t limit = std::min(bytes == 0 ? kEverything : bytes, capacity_);
  limit_->set_limit(limit);
  if (over_committed()) trim_to_budget();
}

void Device::trim_to_budget() noexcept {
  const std::size_t committed = limit_->committed();
  const std::size_t limit = limit_->limit();
  if (committed > limit) pool_->trim(committed - limit);
}

std::size_t Device::trim(std::size_t bytes) noexcept {
  if (foreign()) return 0;
  pool_->wait_pending();
  return pool_->trim(bytes);
}

void Device::join(ForeignShard& shard) noexcept {
  shard.joined = true;
  shard.next = shards_.load(std::memory_order_relaxed);
  while (!shards_.compare_exchange_weak(shard.next, &shard, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
}

void Device::raise_peak(std::uint64_t bytes) noexcept {
  std::uint64_t peak = foreign_peak_.load(std::memory_order_relaxed);
  while (bytes > peak &&
         !foreign_peak_.compare_exchange_weak(peak, bytes, std::memory_order_relaxed)) {
  }
}

std::uint64_t Device::in_use() const noexcept {
  return foreign() ? foreign_in_use() : pool_->stats().in_use;
}
std::uint64_t Device::committed() const noexcept {
  return foreign() ? in_use() : limit_->committed();
}
std::uint64_t Device::peak_committed() const noexcept {
  return foreign() ? foreign_peak_.load(std::memory_order_relaxed) : pool_->stats().peak_committed;
}

}  // namespace ebb
