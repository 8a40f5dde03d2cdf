// What an operation costs beyond its arithmetic, and how fast the arithmetic of large tensors is.
//
// Peers in the same run: a tensor made and ended, which is what a result costs without any
// operation; plain loops over the same memory; and the same additions, shared by the same team, on
// memory that is there: what the caches and the memory give at most; and PyTorch's eager operations
// on two threads (torch_peer.hpp), where EBB_TORCH_PYTHON names a Python that has PyPI's torch.
#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "backends/cpu/parallel.hpp"
#include "ops/recorder.hpp"
#include "support/figures.hpp"
#include "support/tensors.hpp"
#include "support/torch_peer.hpp"

namespace ebb::bench {
namespace {

using ops::op_id;

// [[gnu::noipa]]: as a library's function would be called.
[[gnu::noipa]] void plain_add(const float* a, const float* b, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}
[[gnu::noipa]] float plain_sum(const float* x, std::size_t count) {
  return std::accumulate(x, x + count, 0.0f);
}
template <typename Function>
[[gnu::noipa]] void plain_map(const float* x, float* out, std::size_t count, Function function) {
  for (std::size_t i = 0; i < count; ++i) out[i] = function(x[i]);
}

constexpr std::int64_t kCount = 1 << 20;

void small_add(Bench& bench, Figures& figures) {
  const Handle inputs[] = {bench.tensor({8}), bench.tensor({8})};
  const Measure ours = on_wall(20000, [&] { bench.run(op_id("Add"), inputs, {}); });
  const Measure made = on_wall(20000, [&] { bench.make_and_end({8}); });
  figures.add("add of 8, to a tensor made and ended (us)", measure_in_turns(ours, made),
              Goal::kAtMost, 3.5);
}

// The operation with as many checks for a listener, a recording or a tape, again as it makes itself.
// What they add is what they cost where nobody listens.
void unheard(Bench& bench, Figures& figures) {
  const Handle inputs[] = {bench.tensor({8}), bench.tensor({8})};
  const auto once = [&](long n) {
    for (long i = 0; i < n; ++i) bench.run(op_id("Add"), inputs, {});
  };
  const auto twice = [&](long n) {
    for (long i = 0; i < n; ++i) {
      ops::Recorder* const listener = ops::recorder;
      if (listener != nullptr) [[unlikely]]
        listener->failed();
      bench.run(op_id("Add"), inputs, {});
      if (listener != nullptr) [[unlikely]]
        listener->failed();
    }
  };
  figures.add("add of 8, nobody listening, its checks made twice to once (ns)",
              measure_in_turns([&] { return time_each(100'000, twice); },
                               [&] { return time_each(100'000, once); }, 31),
              Goal::kAtMost, 1.05);
}

void add(Bench& bench, Figures& figures) {
  const Handle inputs[] = {bench.tensor({kCount}), bench.tensor({kCount})};
  std::vector<float> a(kCount, 1), b(kCount, 2), c(kCount);
  const Measure ours = on_wall(20, [&] { bench.run(op_id("Add"), inputs, {}); });
  const Measure shared = on_wall(20, [&] {
    cpu::parallel_for(kCount, kCount / 2, [&](std::int64_t begin, std::int64_t end) {
      plain_add(a.data() + begin, b.data() + begin, c.data() + begin,
                static_cast<std::size_t>(end - begin));
    });
  });
  const Measure plain =
      on_wall(20, [&] { plain_add(a.data(), b.data(), c.data(), std::size_t{kCount}); });
  figures.add("add of 1M, to plain loops of the team (us)", measure_in_turns(ours, shared),
              Goal::kAtMost, 1.05);
  figures.add("add of 1M, to a plain loop (us)", measure_in_turns(ours, plain), Goal::kAtMost, 0.8);
}

void sum(Bench& bench, Figures& figures) {
  const Handle x[] = {bench.tensor({kCount})};
  const double all[] = {1, 0, 0};
  const std::vector<float> values(kCount, 1);
  const Measure ours = on_wall(20, [&] { bench.run(op_id("Sum"), x, all); });
  const Measure plain = on_wall(5, [&] { plain_sum(values.data(), values.size()); });
  figures.add("sum of 1M, to a plain loop (us)", measure_in_turns(ours, plain), Goal::kAtMost, 0.1);
}

// Against the C library's functions, one element at a time on one thread; a second operand is 0.3.
template <typename Function>
void function(Bench& bench, Figures& figures, std::string_view name, double goal,
              Function plain_one) {
  const Handle pair[] = {bench.tensor({kCount}, 0.1f, 1), bench.tensor({kCount}, 0.3f, 0.3f)};
  std::vector<float> values(kCount), out(kCount);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 0.1f + 0.9f * static_cast<float>(i * 37 % 101) / 101;
  }
  const ops::OpSpec& spec = *ops::find_op(name);
  const std::span<const Handle> inputs(pair, spec.most_inputs);
  const Measure ours = on_wall(5, [&] { bench.run(spec.id, inputs, {}); });
  const Measure plain =
      on_wall(1, [&] { plain_map(values.data(), out.data(), values.size(), plain_one); });
  figures.add(fmt::format("{} of 1M, to a plain loop (us)", name), measure_in_turns(ours, plain),
              Goal::kAtMost, goal);
}

void functions(Bench& bench, Figures& figures) {
  function(bench, figures, "Exp", 0.3, [](float x) { return std::exp(x); });
  function(bench, figures, "Tan", 0.5, [](float x) { return std::tan(x); });
  function(bench, figures, "Erf", 0.3, [](float x) { return std::erf(x); });
  function(bench, figures, "Pow", 0.5, [](float x) { return std::pow(x, 0.3f); });
  function(bench, figures, "Mod", 0.5, [](float x) { return std::fmod(x, 0.3f); });
}

// Last: after turns of another process, rows that two threads work on were met taking several times
// as long.
void to_torch(Bench& bench, Figures& figures) {
  const auto row = [&](const char* figure, std::string_view op, std::vector<Handle> inputs,
                       std::vector<double> attributes, const TorchWork& theirs, double goal) {
    const ops::OpId id = ops::find_op(op)->id;
    add_to_torch(
        figures, figure, [&] { bench.run(id, inputs, attributes); }, theirs, goal);
  };
  const Handle x = bench.tensor({kCount}), y = bench.tensor({kCount});
  row("add of 8, to PyTorch's from Python (us)", "Add", {bench.tensor({8}), bench.tensor({8})}, {},
      {"a, b = torch.rand(8), torch.rand(8)", "torch.add, a, b", 20000}, 0.25);
  row("add of 1M, to PyTorch's (us)", "Add", {x, y}, {},
      {"a, b = torch.rand(1 << 20), torch.rand(1 << 20)", "torch.add, a, b", 20}, 1.0);
  row("sum of 1M, to PyTorch's (us)", "Sum", {x}, {1, 0, 0},
      {"x = torch.rand(1 << 20)", "torch.sum, x", 20}, 1.0);
  row("softmax 1024x1024, to PyTorch's (us)", "Softmax", {bench.tensor({1024, 1024})}, {1},
      {"x = torch.rand(1024, 1024)", "torch.softmax, x, 1", 20}, 1.0);
}

}  // namespace
}  // namespace ebb::bench

int main() {
  ebb::bench::Bench bench;
  ebb::bench::Figures figures("ops");
  ebb::bench::small_add(bench, figures);
  ebb::bench::unheard(bench, figures);
  ebb::bench::add(bench, figures);
  ebb::bench::sum(bench, figures);
  ebb::bench::functions(bench, figures);
  ebb::bench::to_torch(bench, figures);
  return figures.write();
}
