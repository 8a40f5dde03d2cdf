#include "conformance/pool_suite.hpp"
#include "ebb/memory/heap_adaptors.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/memory/system_heap.hpp"

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

INSTANTIATE_TEST_SUITE_P(
    Heaps, PoolOnHeap,
    ::testing::Values(
        HeapCase{"system", system, true},
        HeapCase{"system_small_pages",
                 [] {
                   return base<SystemHeap>(SystemHeapOptions{
                       .granule = 64 << 10, .preferred_span = 32 << 20, .huge_pages = false});
                 },
                 true},
        HeapCase{"simulated", [] { return simulated({}); }},
        HeapCase{"simulated_backed", [] { return simulated({.backed = true}); }, true},
        HeapCase{"simulated_synchronous", [] { return simulated({.synchronous = true}); }},
        HeapCase{"simulated_threaded", [] { return simulated({.threaded = true}); }},
        HeapCase{"limited", [] { return over<LimitHeap>(system(), std::size_t{256} << 20); }, true},
        HeapCase{"recorded", [] { return over<RecordingHeap>(system(), true); }, true},
        HeapCase{"recorded_faulty_limited",
                 [] {
                   return over<RecordingHeap>(
                       over<FaultHeap>(over<LimitHeap>(simulated({}), std::size_t{200} << 20)));
                 }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ebb::test
