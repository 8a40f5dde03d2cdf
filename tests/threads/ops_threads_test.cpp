// Operations whose loops the team shares, from four threads at once: every thread gets what one
// alone gets. Under ThreadSanitizer the parts of one loop are told apart too.
#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb {
namespace {

using ops::op_id;
using Values = std::vector<float>;

class Caller {
 public:
  explicit Caller(Device& cpu) : cpu_(cpu) {}

  // Each of a size that is worth the team.
  Values run() {
    Values all;
    const Shape flat{600, 500};
    for (const ops::OpId op : {op_id("Add"), op_id("Multiply"), op_id("Maximum")}) {
      append(all, op, {flat, flat}, {});
      append(all, op, {flat, {500}}, {});
    }
    for (const ops::OpId op : {op_id("Exp"), op_id("Relu"), op_id("Erf"), op_id("Tan")}) {
      append(all, op, {flat}, {});
    }
    append(all, op_id("Pow"), {flat, flat}, {});
    append(all, op_id("Mod"), {flat, flat}, {});
    append(all, op_id("Sum"), {flat}, {1, 0, 0});
    append(all, op_id("Sum"), {flat}, {1, 1, 0});
    append(all, op_id("Max"), {flat}, {1, 1, 0});
    append(all, op_id("Softmax"), {flat}, {-1});
    append(all, op_id("Transpose"), {flat}, {2, 1, 0});
    append(all, op_id("Cumsum"), {flat}, {1, 0, 0});
    return all;
  }

 private:
  Handle tensor(const Shape& shape) {
    const Handle handle = context_->make({.device = &cpu_, .shape = shape});
    Values values(shape.elements());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i * 37 % 101) / 16 + 0.5f;
    }
    ops::write(*context_, handle, std::as_bytes(std::span(values)));
    return handle;
  }
  // Two values of each result: the whole would be much to compare.
  void append(Values& all, ops::OpId op, std::vector<Shape> shapes,
              std::vector<double> attributes) {
    std::vector<Handle> inputs;
    for (const Shape& shape : shapes) inputs.push_back(tensor(shape));
    ops::OpResult result;
    ops::run({*context_, cpu_}, op, inputs, attributes, {&result, 1});
    Values values(result.shape.elements());
    ops::read(*context_, result.handle, std::as_writable_bytes(std::span(values)));
    float sum = 0;
    for (const float value : values) sum += value;
    all.push_back(sum);
    all.push_back(values[values.size() / 2]);
    context_->dispose(result.handle);
    for (const Handle input : inputs) context_->dispose(input);
  }

  Device& cpu_;
  ContextPtr context_ = Context::create({.name = "caller"});
};

TEST(OpsThreads, GetWhatOneAloneGets) {
  const test::OpenDevice cpu({.name = "ops threads"});
  const Values alone = Caller(*cpu).run();
  std::array<bool, 4> right{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      Caller caller(*cpu);
      right[t] = caller.run() == alone && caller.run() == alone;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < right.size(); ++t) EXPECT_TRUE(right[t]) << "thread " << t;
  EXPECT_EQ(cpu->in_use(), 0u);
}

// One context and one thread's operands, read by all: operands may be shared.
TEST(OpsThreads, ShareOperands) {
  const test::OpenDevice cpu({.name = "ops threads"});
  ContextPtr context = Context::create({.name = "shared"});
  const Handle x = context->make({.device = &*cpu, .shape = {300'000}});
  const Values ones(300'000, 1);
  ops::write(*context, x, std::as_bytes(std::span(ones)));
  const std::array inputs{x, x};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        ops::OpResult sum;
        ops::run({*context, *cpu}, op_id("Add"), inputs, {}, {&sum, 1});
        context->dispose(sum.handle);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  context.reset();
  EXPECT_EQ(cpu->in_use(), 0u);
}

}  // namespace
}  // namespace ebb
