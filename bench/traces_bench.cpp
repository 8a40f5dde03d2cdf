// Replayed training: how much is committed at the peak, against what was asked for, and whether a
// pool that has warmed up still calls its heap.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>

#include "../tests/support/heaps.hpp"
#include "ebb/memory/pool.hpp"
#include "ebb/memory/system_heap.hpp"
#include "support/figures.hpp"
#include "support/training_traces.hpp"

namespace ebb::bench {
namespace {

struct Replay {
  std::size_t peak_requested = 0;
  std::size_t peak_committed = 0;
  std::uint64_t steady_calls = 0;
};

// Every page of what the trace asks for is the pool's to find; the memory itself is not touched.
Replay replay(const TrainingTrace& trace, Pool& pool, const RecordingHeap& heap) {
  std::vector<Block> blocks(trace.tensors);
  std::vector<std::size_t> asked(trace.tensors);
  std::size_t requested = 0;
  std::uint64_t calls_before = 0;
  Replay result;
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const TraceCall call = trace.calls[i];
    if (i == trace.steady_from) calls_before = heap.memory_calls();
    if (call.bytes != 0) {
      blocks[call.id] = pool.allocate(call.bytes);
      requested += asked[call.id] = call.bytes;
      result.peak_requested = std::max(result.peak_requested, requested);
    } else {
      pool.free(std::exchange(blocks[call.id], {}));
      requested -= asked[call.id];
    }
  }
  result.peak_committed = heap.peak_committed();
  result.steady_calls = heap.memory_calls() - calls_before;
  for (const Block block : blocks) pool.free(block);
  return result;
}

void add_figures(Figures& figures, const TrainingTrace& trace) {
  SystemHeap system;
  RecordingHeap heap(system);
  Pool pool(heap);
  const Replay result = replay(trace, pool, heap);
  const double committed = double(result.peak_committed);
  const double requested = double(result.peak_requested);
  figures.add(fmt::format("{}: (peak committed - 8 MB) to peak requested (MB)", trace.name),
              {committed / (1 << 20), requested / (1 << 20), (committed - (8 << 20)) / requested},
              Goal::kAtMost, 1.10);
  figures.add(fmt::format("{}: peak committed to peak requested, without allowance", trace.name),
              {committed / (1 << 20), requested / (1 << 20), committed / requested}, Goal::kAtMost,
              1.10 + (8 << 20) / requested);
  const double calls = double(result.steady_calls);
  figures.add(fmt::format("{}: heap calls in steady state", trace.name), {calls, 0, calls},
              Goal::kAtMost, 0);
}

void BM_Replay(benchmark::State& state, const TrainingTrace& trace) {
  SystemHeap system;
  RecordingHeap heap(system);
  Pool pool(heap);
  for (auto _ : state) replay(trace, pool, heap);
  state.SetItemsProcessed(std::int64_t(trace.calls.size()) * state.iterations());
}
BENCHMARK_CAPTURE(BM_Replay, mlp, mlp_trace())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, conv_net, conv_net_trace())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Replay, growing_lengths, growing_lengths_trace())
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ebb::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  ebb::bench::Figures figures("traces");
  for (const auto& trace :
       {ebb::bench::mlp_trace(), ebb::bench::conv_net_trace(), ebb::bench::growing_lengths_trace()})
    ebb::bench::add_figures(figures, trace);
  figures.write();
  return 0;
}
