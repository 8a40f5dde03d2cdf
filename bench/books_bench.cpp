// Handles, regions and orphans: what keeping the books costs.
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <vector>

#include "ebb/memory/pool.hpp"
#include "ebb/memory/simulated_device.hpp"
#include "ebb/tensor/context.hpp"
#include "support/figures.hpp"
#include "tensor/tensor_record.hpp"

namespace ebb::bench {
namespace {

constexpr std::size_t kBatch = 64;
constexpr std::array<std::int64_t, 2> kDims{256, 1024};

struct Books {
  Device& cpu = Device::open({.name = "cpu"});
  Device& foreign = Device::open({.kind = DeviceKind::kForeign, .name = "foreign"});
  ContextPtr context = Context::create({.name = "bench"});
  TensorSpec spec{.device = &cpu, .shape = {16, 16}};
  ForeignSpec foreign_spec{
      .device = &foreign, .bytes = 1 << 20, .tag = 1, .dtype = DType::kFloat32, .dims = kDims};
};

Books& books() {
  static Books books;
  return books;
}

// The same record as a handle has, its tensor's and its storage's part, counted by shared_ptr.
struct SharedRecord {
  std::array<std::byte, sizeof(TensorRecord)> tensor{};
  std::array<std::byte, sizeof(Storage)> storage{};
};

void handle_pairs(long n) {
  Context& context = *books().context;
  for (long i = 0; i < n; ++i) context.dispose(context.adopt(books().foreign_spec));
}
void shared_pairs(long n) {
  for (long i = 0; i < n; ++i) {
    auto record = std::make_shared<SharedRecord>();
    benchmark::DoNotOptimize(record);
  }
}
void tensor_pairs(long n) {
  Context& context = *books().context;
  for (long i = 0; i < n; ++i) context.dispose(context.make(books().spec));
}
void regions_of_ten(long n) {
  Context& context = *books().context;
  TensorSpec spec = books().spec;
  for (long i = 0; i < n; ++i) {
    spec.region = context.open();
    for (int t = 0; t < 10; ++t) context.make(spec);
    context.close(spec.region);
  }
}

using Handles = std::array<Handle, kBatch>;
void make_all(Handles& handles) {
  for (Handle& handle : handles) handle = books().context->adopt(books().foreign_spec);
}
void dispose_batches(long n) {
  Handles handles;
  for (long i = 0; i < n; i += kBatch) {
    make_all(handles);
    for (const Handle handle : handles) books().context->dispose(handle);
  }
}
void orphan_batches(long n) {
  Handles handles;
  for (long i = 0; i < n; i += kBatch) {
    make_all(handles);
    for (const Handle handle : handles) Context::orphan(handle);
    books().context->safe_point();
  }
}

void as_benchmark(benchmark::State& state, void (*work)(long)) {
  for (auto _ : state) work(kBatch);
  state.SetItemsProcessed(state.iterations() * kBatch);
}
BENCHMARK_CAPTURE(as_benchmark, handle_made_and_ended, &handle_pairs);
BENCHMARK_CAPTURE(as_benchmark, make_shared_of_the_record, &shared_pairs);
BENCHMARK_CAPTURE(as_benchmark, tensor_made_and_ended, &tensor_pairs);
BENCHMARK_CAPTURE(as_benchmark, region_around_ten, &regions_of_ten);
BENCHMARK_CAPTURE(as_benchmark, orphan_pushed_and_drained, &orphan_batches);

Measure timed(void (*work)(long), long n) {
  return [=] { return time_each(n, work); };
}

// What a notice costs beyond the end itself: the batch with notices less the batch without.
Pair beyond_the_end() {
  Pair pair =
      measure_in_turns(timed(&orphan_batches, 256'000), timed(&dispose_batches, 256'000), 25);
  pair.ours -= pair.peer;
  pair.ratio -= 1;
  return pair;
}

// With a million orphans waiting and reclaim off, a tensor must cost what it cost at first.
Pair beside_orphans() {
  set_reclaim(false);
  ContextPtr crowded = Context::create({.name = "crowded"});
  for (int i = 0; i < 1'000'000; ++i) Context::orphan(crowded->adopt(books().foreign_spec));
  const Measure ours = [&] {
    return time_each(400'000, [&](long n) {
      for (long i = 0; i < n; ++i) crowded->dispose(crowded->adopt(books().foreign_spec));
    });
  };
  const Pair pair = measure_in_turns(ours, timed(&handle_pairs, 400'000));
  set_reclaim(true);
  return pair;
}

// What a context costs the others is nothing while it is open: turns with and without.
Pair beside_contexts() {
  const Measure alone = timed(&handle_pairs, 200'000);
  const Measure ours = [&] {
    std::vector<ContextPtr> others;
    for (int i = 0; i < 1000; ++i) {
      others.push_back(Context::create({.name = "other"}));
      others.back()->adopt(books().foreign_spec);
    }
    return alone();
  };
  return measure_in_turns(ours, alone);
}

// More is in use than a budget that was lowered since: it is asked for in turn, not each time.
Pair under_a_lowered_budget() {
  const Measure ours = [] {
    const Handle kept = books().context->make({.device = &books().cpu, .shape = {4 << 20}});
    books().cpu.set_budget(4 << 20, BudgetMode::kHard);
    const double each = time_each(200'000, &tensor_pairs);
    books().cpu.set_budget(0, BudgetMode::kHard);
    books().context->dispose(kept);
    return each;
  };
  return measure_in_turns(ours, timed(&tensor_pairs, 200'000));
}

// Free chunks of nearly one size, with one in use between any two, and a block that only a few fit.
class Splintered {
 public:
  explicit Splintered(std::size_t chunks) {
    std::vector<Block> dropped;
    for (std::size_t i = 0; i < chunks; ++i) {
      dropped.push_back(pool_.allocate(kLeast + i % 64 * 1024));
      kept_.push_back(pool_.allocate(kLeast));
    }
    for (const Block block : dropped) pool_.free(block);
    pool_.flush_thread();
  }
  ~Splintered() {
    for (const Block block : kept_) pool_.free(block);
  }
  // Two sizes in turn, so that the block in the thread's slot does not fit.
  double measure() {
    return time_each(4000, [&](long n) {
      for (long i = 0; i < n; ++i) {
        const Block first = pool_.allocate(kLeast + 40 * 1024 + 512);
        pool_.free(pool_.allocate(kLeast + 20 * 1024 + 512));
        pool_.free(first);
      }
    });
  }

 private:
  static constexpr std::size_t kLeast = 80 << 10;
  SimulatedDevice device_{{.capacity = std::size_t{64} << 30, .synchronous = true}};
  Pool pool_{device_};
  std::vector<Block> kept_;
};

Pair among_free_chunks() {
  Splintered many(80'000), few(800);
  return measure_in_turns([&] { return many.measure(); }, [&] { return few.measure(); });
}

int figures() {
  set_reclaim(true);
  Figures figures("books");
  figures.add("handle made and ended, to std::make_shared of the same record (ns)",
              measure_in_turns(timed(&handle_pairs, 400'000), timed(&shared_pairs, 400'000), 25),
              Goal::kAtMost, 1.5);
  figures.add("region opened and closed around 10 tensors, to one tensor made and ended (ns)",
              measure_in_turns(timed(&regions_of_ten, 40'000), timed(&tensor_pairs, 400'000), 25),
              Goal::kAtMost, 12);
  figures.add("orphan pushed and drained, beyond the end, to a handle made and ended (ns)",
              beyond_the_end(), Goal::kAtMost, 0.5);
  figures.add("handle made and ended beside 1,000,000 orphans, reclaim off, to none (ns)",
              beside_orphans(), Goal::kAtMost, 1.2);
  figures.add("handle made and ended beside 1,000 contexts, to none (ns)", beside_contexts(),
              Goal::kAtMost, 1.2);
  figures.add("tensor made and ended over a lowered budget, to none (ns)", under_a_lowered_budget(),
              Goal::kAtMost, 2);
  figures.add("two large blocks among 80,000 free chunks, to among 800 (ns)", among_free_chunks(),
              Goal::kAtMost, 3);
  Context::audit();
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  ebb::bench::figures();
  return 0;
}
