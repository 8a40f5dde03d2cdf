// Allocate and free: the pool against mimalloc and glibc.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "ebb/memory/system_heap.hpp"
#include "memory/event_ring.hpp"
#include "support/figures.hpp"
#include "support/subjects.hpp"
#include "support/workloads.hpp"

namespace ebb::bench {
namespace {

constexpr std::size_t kMillion = 1'000'000;

Pool& shared_pool() {
  static SystemHeap heap;
  static Pool pool(heap);
  return pool;
}

PoolSubject ours() { return {&shared_pool()}; }
MallocSubject peer_glibc() { return {glibc()}; }
MallocSubject peer_mimalloc() { return {*mimalloc()}; }

std::string size_name(std::size_t bytes) {
  return bytes < 1 << 10   ? fmt::format("{} B", bytes)
         : bytes < 1 << 20 ? fmt::format("{} KB", bytes >> 10)
                           : fmt::format("{} MB", bytes >> 20);
}

void pair_benchmark(benchmark::State& state, const auto& subject) {
  for (auto _ : state) hot_pairs(subject, std::size_t(state.range(0)), 1);
}
void BM_PoolPair(benchmark::State& state) { pair_benchmark(state, ours()); }
void BM_GlibcPair(benchmark::State& state) { pair_benchmark(state, peer_glibc()); }
void BM_MimallocPair(benchmark::State& state) {
  if (mimalloc() == nullptr) return state.SkipWithError("libmimalloc.so.2 is not there");
  pair_benchmark(state, peer_mimalloc());
}
BENCHMARK(BM_PoolPair)->RangeMultiplier(4)->Range(256, 16 << 20);
BENCHMARK(BM_GlibcPair)->RangeMultiplier(4)->Range(256, 16 << 20);
BENCHMARK(BM_MimallocPair)->RangeMultiplier(4)->Range(256, 1 << 20);

void small_pairs(Figures& figures) {
  for (std::size_t bytes = 256; bytes <= 64 << 10; bytes *= 2)
    figures.add(fmt::format("pool: allocate + free, {}, to mimalloc (ns)", size_name(bytes)),
                measure_in_turns([&] { return hot_pair(ours(), bytes); },
                                 [&] { return hot_pair(peer_mimalloc(), bytes); }),
                Goal::kAtMost, 1.5);
}

void large_pairs(Figures& figures) {
  for (std::size_t bytes = 128 << 10; bytes <= 16 << 20; bytes *= 2)
    figures.add(fmt::format("pool: allocate + free, {}, to glibc (ns)", size_name(bytes)),
                measure_in_turns([&] { return hot_pair(ours(), bytes); },
                                 [&] { return hot_pair(peer_glibc(), bytes); }),
                Goal::kAtMost, 1.0);
}

void written_pairs(Figures& figures) {
  for (std::size_t bytes = 32 << 20; bytes <= 64 << 20; bytes *= 2) {
    Pair pair = measure_in_turns([&] { return written_pair(ours(), bytes, 4); },
                                 [&] { return written_pair(peer_glibc(), bytes, 1); }, 7);
    pair.ratio = 1 / pair.ratio;
    figures.add(
        fmt::format("pool: {}, every page written, faster than glibc (ns)", size_name(bytes)), pair,
        Goal::kAtLeast, 50);
  }
}

// Two pools, so that both populations are there at once.
void beside_live(Figures& figures) {
  SystemHeap heap;
  Pool few_pool(heap);
  Pool many_pool(heap);
  const PoolSubject few{&few_pool};
  const PoolSubject many{&many_pool};
  std::vector<Block> blocks;
  std::vector<Block> few_blocks;
  for (std::size_t i = 0; i < kMillion; ++i) blocks.push_back(many.allocate(256 + i % 512));
  for (std::size_t i = 0; i < 1000; ++i) few_blocks.push_back(few.allocate(256 + i % 512));
  for (const std::size_t bytes : {std::size_t{512}, std::size_t{1} << 20})
    figures.add(fmt::format("pool: hot pair of {} beside 1,000,000 live blocks, to 1,000 (ns)",
                            size_name(bytes)),
                measure_in_turns([&] { return hot_pair(many, bytes); },
                                 [&] { return hot_pair(few, bytes); }),
                Goal::kAtMost, 1.2);
  for (const Block block : blocks) many.free(block);
  for (const Block block : few_blocks) few.free(block);
}

void replacement(Figures& figures) {
  Replacement<PoolSubject> our_blocks(ours(), kMillion);
  Replacement<MallocSubject> peer_blocks(peer_mimalloc(), kMillion);
  figures.add("pool: random replacement among 1,000,000 blocks, to mimalloc (ns)",
              measure_in_turns([&] { return our_blocks.run(400'000); },
                               [&] { return peer_blocks.run(400'000); }, 9),
              Goal::kAtMost, 1.0);
}

void two_threads(Figures& figures) {
  Pair own = best_in_turns([] { return own_blocks(ours(), 2, 100'000); },
                           [] { return own_blocks(ours(), 1, 100'000); }, 200);
  own.ratio = 1 / own.ratio;
  figures.add("pool: throughput of 2 threads on own blocks, to one thread (ns)", own,
              Goal::kAtLeast, 1.6);
  Pair pair = measure_in_turns([] { return exchange(ours(), 500'000); },
                               [] { return exchange(peer_mimalloc(), 500'000); }, 15);
  pair.ratio = 1 / pair.ratio;
  figures.add("pool: throughput of 2 threads freeing each other's, to mimalloc (ns)", pair,
              Goal::kAtLeast, 1.0);
  Pair one_way = measure_in_turns([] { return hand_over(ours(), 1'000'000); },
                                  [] { return hand_over(peer_mimalloc(), 1'000'000); }, 15);
  one_way.ratio = 1 / one_way.ratio;
  figures.add("pool: throughput of one thread allocating, one freeing, to mimalloc (ns)", one_way,
              Goal::kAtLeast, 1.0);
}

// The pool with as many checks for tracing again as it makes itself. What they add is what they
// cost.
struct CheckedTwice : PoolSubject {
  Block allocate(std::size_t bytes) const {
    const Block block = PoolSubject::allocate(bytes);
    check(block);
    return block;
  }
  void free(Block block) const {
    check(block);
    PoolSubject::free(block);
  }
  static void check(Block block) {
    if (trace::on()) [[unlikely]]
      trace::record({.id = reinterpret_cast<std::uint64_t>(block.data)});
  }
};

void tracing(Figures& figures) {
  const auto off = [] { return hot_pair(ours(), 1024); };
  const auto on = [&] {
    trace::set(true);
    const double time = off();
    trace::set(false);
    return time;
  };
  const auto checked_twice = [] { return hot_pair(CheckedTwice{ours()}, 1024); };
  figures.add("pool: allocate + free, tracing off, its checks made twice to once (ns)",
              measure_in_turns(checked_twice, off, 31), Goal::kAtMost, 1.05);
  figures.add("pool: allocate + free, tracing on to off (ns)", measure_in_turns(on, off),
              Goal::kAtMost, 2.0);
}

int run_figures() {
  Figures figures("pool");
  tracing(figures);
  if (mimalloc() != nullptr) small_pairs(figures);
  large_pairs(figures);
  written_pairs(figures);
  beside_live(figures);
  if (mimalloc() != nullptr) replacement(figures);
  if (mimalloc() != nullptr) two_threads(figures);
  figures.write();
  return 0;
}

}  // namespace
}  // namespace ebb::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return ebb::bench::run_figures();
}
