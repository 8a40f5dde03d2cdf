// Matrix products through the table of operations against oneDNN's primitive alone, its memory
// taken once: what is ours is checks, books, plan and blocks.
#include <array>

#include "support/bare_product.hpp"
#include "support/figures.hpp"
#include "support/tensors.hpp"

namespace ebb::bench {
namespace {

class Product {
 public:
  Product(Bench& bench, std::int64_t m, std::int64_t k, std::int64_t n)
      : bench_(bench), inputs_{bench.tensor({m, k}), bench.tensor({k, n})} {}
  void run() { bench_.run(ops::op_id("BatchMatMul"), inputs_, std::array<double, 2>{0, 0}); }

 private:
  Bench& bench_;
  std::array<Handle, 2> inputs_;
};

Measure repeated(auto& work, long times, bool threads) {
  return [&work, times, threads] {
    const auto loop = [&](long n) {
      for (long i = 0; i < n; ++i) work.run();
    };
    return threads ? time_each_on_wall(times, loop) : time_each(times, loop);
  };
}

void add(Figures& figures, const std::string& name, Bench& bench, std::array<std::int64_t, 3> size,
         long times, bool threads, double goal) {
  const auto [m, k, n] = size;
  Product ours(bench, m, k, n);
  BareProduct bare({.rows = m, .inner = k, .columns = n, .alone = !threads});
  const Measure one = repeated(ours, times, threads);
  const Measure other = repeated(bare, times, threads);
  figures.add(name, threads ? best_in_turns(one, other, 100) : measure_in_turns(one, other, 25),
              Goal::kAtMost, goal);
}

// A dense layer of a batch of one, with bias and relu, as prediction runs it.
class Dense {
 public:
  explicit Dense(Bench& bench)
      : bench_(bench),
        inputs_{bench.tensor({1, 128}), bench.tensor({128, 128}), bench.tensor({128})} {}
  void run() { bench_.run(ops::op_id("_FusedMatMul"), inputs_, std::array<double, 4>{0, 0, 1, 0}); }

 private:
  Bench& bench_;
  std::array<Handle, 3> inputs_;
};

int main_of_products() {
  Bench bench;
  Figures figures("products");
  add(figures, "matmul 1024x1024 / bare oneDNN, ns", bench, {1024, 1024, 1024}, 1, true, 1.053);
  add(figures, "matmul 32x32 / bare oneDNN, ns", bench, {32, 32, 32}, 2000, false, 1.5);
  add(figures, "matmul [32,784]x[784,128] / bare oneDNN, ns", bench, {32, 784, 128}, 20, true, 1.1);
  Dense dense(bench);
  BareProduct bare({.rows = 1, .inner = 128, .columns = 128, .alone = true});
  figures.add("dense 128, batch 1, bias, relu / bare product, ns",
              measure_in_turns(repeated(dense, 2000, false), repeated(bare, 2000, false), 25),
              Goal::kAtMost, 1.6);
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main() { ebb::bench::main_of_products(); }
