// What is run under failing allocations. A scenario may stop at the first exception; everything it
// has opened by then must end without allocating, for the failures go on.
#pragma once

#include <string_view>
#include <vector>

#include "ebb/memory/simulated_device.hpp"
#include "fault/failing_new.hpp"
#include "support/heaps.hpp"
#include "support/hosts.hpp"

namespace ebb::fault {

// A heap that fails on request, with the device under it.
struct FaultyHeapParts {
  SimulatedDevice device{
      {.capacity = 16 << 20, .preferred_span = 4 << 20, .steps_per_poll = 1, .backed = true}};
  FaultHeap faults{device};
};
class FaultyHeap final : private FaultyHeapParts, public HeapAdaptor {
 public:
  bool commit(std::byte* base, std::size_t bytes) noexcept override {
    const Spared spared;
    return HeapAdaptor::commit(base, bytes);
  }
  void order(StreamId stream, Event event) noexcept override {
    const Spared spared;
    HeapAdaptor::order(stream, event);
  }
  FaultyHeap() : HeapAdaptor(static_cast<Heap&>(faults)) {}
  using FaultyHeapParts::device;
  using FaultyHeapParts::faults;
};

// Collects by orphaning what was `dropped`; allocates nothing itself.
struct FrugalHost : Host {
  std::vector<Handle> dropped;
  std::uint64_t ends = 0;
  bool can_collect() const override { return true; }
  std::uint64_t collect(Collection) override {
    for (const Handle handle : dropped) Context::orphan(handle);
    dropped.clear();
    return 1;
  }
  void end(std::span<const ForeignEnd> ended) override { ends += ended.size(); }
  void warn(std::string_view) override {}
};

// The devices that all runs share.
struct World {
  World();
  FaultyHeap* heap = nullptr;
  test::OpenDevice cpu;
  test::OpenDevice wasm{DeviceOptions{.kind = DeviceKind::kForeign, .name = "fault wasm"}};
  test::OpenDevice webgl{DeviceOptions{.kind = DeviceKind::kForeign, .name = "fault webgl"}};
  StreamId stream = kDefaultStream;

  // The device's double keeps records of what is committed and queued: none are left.
  void give_all_back() {
    heap->device.finish();
    cpu->pool().wait_pending();
    cpu->pool().flush_thread();
    cpu->pool().trim(~std::size_t{0});
  }

 private:
  explicit World(std::unique_ptr<FaultyHeap> faulty);
};

struct Scenario {
  std::string_view name;
  void (*run)(World&);
};
const std::vector<Scenario>& scenarios();

}  // namespace ebb::fault
