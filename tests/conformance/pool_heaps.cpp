#include "conformance/pool_suite.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"
#include "support/heaps.hpp"

namespace ebb::test {
namespace {

template <typename Base, typename Options>
HeapStack base(Options options) {
  HeapStack stack;
  stack.owned.push_back(std::make_unique<Base>(options));
  stack.top = stack.owned.back().get();
  return stack;
}

template <typename Adaptor, typename... Args>
HeapStack over(HeapStack stack, Args... args) {
  stack.owned.push_back(std::make_unique<Adaptor>(*stack.top, args...));
  stack.top = stack.owned.back().get();
  return stack;
}

HeapStack system() { return base<SystemHeap>(SystemHeapOptions{}); }
HeapStack simulated(SimulatedDeviceOptions options) { return base<SimulatedDevice>(options); }

const HeapCase kSystem{"system", system};
const HeapCase kSmallPages{
    "system_small_pages", [] {
      return base<SystemHeap>(
          SystemHeapOptions{.granule = 64 << 10, .preferred_span = 32 << 20, .huge_pages = false});
    }};
const HeapCase kBacked{"simulated_backed", [] { return simulated({.backed = true}); }};
const HeapCase kLimited{"limited",
                        [] { return over<LimitHeap>(system(), std::size_t{256} << 20); }};
const HeapCase kRecorded{"recorded", [] { return over<RecordingHeap>(system(), true); }};
const HeapCase kSimulated{"simulated", [] { return simulated({}); }};
const HeapCase kSynchronous{"simulated_synchronous",
                            [] { return simulated({.synchronous = true}); }};
const HeapCase kThreaded{"simulated_threaded", [] { return simulated({.threaded = true}); }};
const HeapCase kStacked{"recorded_faulty_limited", [] {
                          return over<RecordingHeap>(over<FaultHeap>(
                              over<LimitHeap>(simulated({}), std::size_t{200} << 20)));
                        }};

std::string name_of(const ::testing::TestParamInfo<HeapCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Heaps, PoolOnHeap,
                         ::testing::Values(kSystem, kSmallPages, kLimited, kRecorded, kBacked,
                                           kSimulated, kSynchronous, kThreaded, kStacked),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Heaps, PoolOnAddressableHeap,
                         ::testing::Values(kSystem, kSmallPages, kLimited, kRecorded, kBacked),
                         name_of);

}  // namespace
}  // namespace ebb::test
