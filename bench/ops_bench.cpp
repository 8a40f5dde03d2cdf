// What an operation costs beyond its arithmetic, and how fast the arithmetic of large tensors is.
//
// The peers are plain loops over the same memory, in the same run, and a tensor made and ended:
// what a result costs without any operation. The figures of other runtimes, in docs/benchmarks.md,
// were taken on a machine of this kind: 185 ns for eight elements is a tenth of DJL's with PyTorch.
#include <cmath>
#include <numeric>
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/figures.hpp"

namespace ebb::bench {
namespace {

using ops::op_id;

class World {
 public:
  Handle tensor(std::int64_t count, float value) {
    const Handle made = context_->make({.device = &cpu_, .shape = {count}});
    const std::vector<float> values(static_cast<std::size_t>(count), value);
    ops::write(*context_, made, std::as_bytes(std::span(values)));
    return made;
  }
  void run(ops::OpId op, std::span<const Handle> inputs, std::span<const double> attributes = {}) {
    ops::OpResult result;
    ops::run({*context_, cpu_}, op, inputs, attributes, {&result, 1});
    context_->dispose(result.handle);
  }
  Context& context() { return *context_; }
  Device& cpu() { return cpu_; }

 private:
  Device& cpu_ = Device::open({.name = "ops bench"});
  ContextPtr context_ = Context::create({.name = "ops bench"});
};

// [[gnu::noipa]]: as a library's function would be called.
[[gnu::noipa]] void plain_add(const float* a, const float* b, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = a[i] + b[i];
}
[[gnu::noipa]] float plain_sum(const float* x, std::size_t count) {
  return std::accumulate(x, x + count, 0.0f);
}
[[gnu::noipa]] void plain_exp(const float* x, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::exp(x[i]);
}

void small_add(World& world, Figures& figures) {
  const Handle inputs[] = {world.tensor(8, 1), world.tensor(8, 2)};
  const auto ours = [&] {
    return time_each(20000, [&](long n) {
      for (long i = 0; i < n; ++i) world.run(op_id("Add"), inputs);
    });
  };
  const auto made = [&] {
    return time_each(20000, [&](long n) {
      for (long i = 0; i < n; ++i) {
        world.context().dispose(world.context().make({.device = &world.cpu(), .shape = {8}}));
      }
    });
  };
  const Pair pair = measure_in_turns(ours, made);
  figures.add("add of 8, to a tensor made and ended (ns)", pair, Goal::kAtMost, 3.5);
  figures.add("add of 8, to 185 ns (ns)", {pair.ours, 185, pair.ours / 185}, Goal::kAtMost, 1.0);
}

void large(World& world, Figures& figures) {
  constexpr std::int64_t kCount = 1 << 20;
  const Handle inputs[] = {world.tensor(kCount, 1), world.tensor(kCount, 2)};
  std::vector<float> a(kCount, 1), b(kCount, 2), c(kCount);
  const auto on_wall = [](long repeats, auto work) {
    return [=] {
      return time_each_on_wall(repeats,
                               [&](long n) {
                                 for (long i = 0; i < n; ++i) work();
                               }) /
             1000;
    };
  };
  figures.add(
      "add of 1M, to a plain loop (us)",
      measure_in_turns(on_wall(20, [&] { world.run(op_id("Add"), inputs); }),
                       on_wall(20, [&] { plain_add(a.data(), b.data(), c.data(), kCount); })),
      Goal::kAtMost, 0.8);
  const double axes[] = {1, 0, 0};
  const std::span<const Handle> one(inputs, 1);
  figures.add("sum of 1M, to a plain loop (us)",
              measure_in_turns(on_wall(20, [&] { world.run(op_id("Sum"), one, axes); }),
                               on_wall(5, [&] { plain_sum(a.data(), kCount); })),
              Goal::kAtMost, 0.1);
  figures.add("exp of 1M, to a plain loop (us)",
              measure_in_turns(on_wall(10, [&] { world.run(op_id("Exp"), one); }),
                               on_wall(2, [&] { plain_exp(a.data(), c.data(), kCount); })),
              Goal::kAtMost, 0.3);
}

}  // namespace
}  // namespace ebb::bench

int main() {
  ebb::bench::World world;
  ebb::bench::Figures figures("ops");
  ebb::bench::small_add(world, figures);
  ebb::bench::large(world, figures);
  return figures.write();
}
