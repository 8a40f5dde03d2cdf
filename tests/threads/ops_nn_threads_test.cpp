// Products and convolutions on several threads at once: each has plans of its own, oneDNN's cache
// below is shared, and every thread gets what one alone gets.
#include <array>
#include <thread>
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb {
namespace {

class Worker {
 public:
  explicit Worker(Device& cpu) : cpu_(cpu) {}

  // Several sizes, below and above what is worth the team.
  std::vector<float> run() {
    std::vector<float> all;
    for (const std::int64_t n : {3, 32, 130}) {
      append(all, op(ops::op_id("BatchMatMul"), {tensor({n, n}), tensor({n, n})}, {0, 0}));
    }
    for (const std::int64_t side : {4, 24}) {
      const auto s = static_cast<double>(side);
      append(all, op(ops::op_id("Conv2D"), {tensor({2, side, side, 8}), tensor({3, 3, 8, 16})},
                     {2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 2, s, s, 0}));
    }
    return all;
  }

 private:
  Handle tensor(const Shape& shape) {
    const Handle handle = context_->make({.device = &cpu_, .shape = shape});
    std::vector<float> values(shape.elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 37 % 101) / 16 - 3;
    }
    ops::write(*context_, handle, std::as_bytes(std::span(values)));
    return handle;
  }
  ops::OpResult op(ops::OpId id, std::array<Handle, 2> inputs, std::vector<double> attributes) {
    ops::OpResult result;
    ops::run({*context_, cpu_}, id, inputs, attributes, {&result, 1});
    for (const Handle input : inputs) context_->dispose(input);
    return result;
  }
  void append(std::vector<float>& all, const ops::OpResult& result) {
    std::vector<float> values(result.shape.elements());
    ops::read(*context_, result.handle, std::as_writable_bytes(std::span(values)));
    all.insert(all.end(), values.begin(), values.end());
    context_->dispose(result.handle);
  }

  Device& cpu_;
  ContextPtr context_ = Context::create({.name = "worker"});
};

TEST(NnThreads, GetWhatOneAloneGets) {
  const test::OpenDevice cpu({.name = "nn threads"});
  const std::vector<float> alone = Worker(*cpu).run();
  std::vector<std::thread> threads;
  std::array<bool, 4> right{};
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      Worker worker(*cpu);
      bool same = true;
      for (int round = 0; round < 10; ++round) same = same && worker.run() == alone;
      right[t] = same;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < right.size(); ++t) EXPECT_TRUE(right[t]) << "thread " << t;
  EXPECT_EQ(cpu->in_use(), 0u);
}

}  // namespace
}  // namespace ebb
