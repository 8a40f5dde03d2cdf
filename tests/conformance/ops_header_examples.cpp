// The examples at the head of the public headers, as they stand there
// (tools/tests/header_examples_test.py compares), after what they take for granted.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>

#include "ebb/ebb.hpp"

namespace ebb::test {
namespace {

TEST(HeaderExamples, Pool) {
  SystemHeap heap;
  Pool pool(heap);
  Block block = pool.allocate(4096);
  ASSERT_TRUE(block);
  pool.free(block);
}

TEST(HeaderExamples, HeapAdaptors) {
  SystemHeap memory;
  LimitHeap heap(memory, 1 << 30);
  Pool pool(heap);
  pool.free(pool.allocate(1 << 20));
  EXPECT_GE(heap.committed(), std::size_t{1} << 20);
}

TEST(HeaderExamples, Context) {
  {
    auto& cpu = Device::open({.name = "cpu", .budget = 1 << 30});
    ContextPtr context = Context::create({.name = "main"});
    StorageRef memory;
    {
      RegionScope scope(*context);
      Handle a = context->make(
          {.device = &cpu, .dtype = DType::kFloat32, .shape = {256, 1024}, .region = scope.id()});
      memory = context->hold(a);
    }
    context->audit();
    EXPECT_EQ(context->memory().books.live, 0u);
    EXPECT_EQ(context->memory().books.held.bytes, memory.data().size());
    std::puts(report(context.get()).c_str());
  }
  Device::close(*Device::find("cpu"));
}

TEST(HeaderExamples, Session) {
  Session session;
  Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  Tensor y = ops::relu(x - 2.5f) + x;
  {
    Scope scope;
    Tensor z = ops::exp(y);
    y = scope.keep(z * z);
  }
  EXPECT_NEAR(y.to_vector<float>()[0], std::exp(2.0f), 1e-5);
}

TEST(HeaderExamples, Run) {
  using namespace ebb::ops;
  Session session;
  Context& context = session.context();
  Device& cpu = session.device();
  const Tensor one = tensor({1.0f}, {1}), two = tensor({2.0f}, {1});
  const Handle a = one.handle(), b = two.handle();
  OpResult sum;
  run({.context = context, .device = cpu}, op_id("Add"), {{a, b}}, {}, {&sum, 1});
  EXPECT_EQ(Tensor(context, sum.handle).item<float>(), 3.0f);
}

TEST(HeaderExamples, Functions) {
  using namespace ebb::ops;
  Session session;
  const Tensor x = fill({1, 4, 4, 1}, 1, DType::kFloat32);
  const Tensor filter = fill({2, 2, 1, 1}, 1, DType::kFloat32);
  const Tensor y = conv2d(x, filter, {.strides = {2, 2}});
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{4, 4, 4, 4}));
}

TEST(HeaderExamples, Read) {
  Session session;
  const Tensor tensor = ebb::tensor({1.0f, 2.0f}, {2});
  std::vector<float> values(2);
  const auto bytes = std::as_writable_bytes(std::span(values));
  const auto do_something_else = [] {};
  AsyncRead read(tensor.context(), tensor.handle());
  while (!read.done()) do_something_else();
  read.take(bytes);
  EXPECT_EQ(values, tensor.to_vector<float>());
}

TEST(HeaderExamples, Tape) {
  Session session;
  Tensor w = tensor({1.0f, 2.0f}, {2}), x = tensor({3.0f, 4.0f}, {2});
  Tape tape;
  tape.watch(w);
  Tensor loss = ops::sum(w * x, {0});
  std::vector<Tensor> gradients = tape.backward({loss}, {}, {w});
  EXPECT_EQ(gradients[0].to_vector<float>(), (std::vector<float>{3, 4}));
}

TEST(HeaderExamples, Grad) {
  Session session;
  const Tensor x = tensor({1.0f, 2.0f}, {2});
  auto f = [](const Tensor& x) { return ops::sum(x * x * x, {0}); };
  Tensor slope = grad(f)(x);
  Tensor bend = grad([&](const Tensor& x) { return ops::sum(grad(f)(x), {0}); })(x);
  EXPECT_EQ(slope.to_vector<float>(), (std::vector<float>{3, 12}));
  EXPECT_EQ(bend.to_vector<float>(), (std::vector<float>{6, 12}));
  Variable only(tensor({2.0f}, {1}));
  const std::vector<Variable*> variables{&only};
  const auto model_loss = [&] { return ops::sum(only * only, {0}); };
  auto [loss, gradients] = value_and_grad(model_loss, variables)();
  EXPECT_EQ(loss.item<float>(), 4);
  EXPECT_EQ(gradients[0].item<float>(), 4);
}

TEST(HeaderExamples, Variable) {
  Session session;
  const Tensor x = ops::fill({1, 784}, 1, DType::kFloat32);
  Variable w(ops::random_normal({784, 128}), "dense/kernel");
  Tensor y = ops::batch_mat_mul(x, w);
  const Tensor gradient = w.value() * 10.0;
  w.assign(w - gradient * 0.1);
  EXPECT_EQ(y.shape(), (Shape{1, 128}));
  EXPECT_NEAR(w.value().to_vector<float>()[0], 0, 1e-5);
}

TEST(HeaderExamples, Program) {
  Session session;
  const Tensor x = tensor({1.0f, 2.0f}, {1, 2}), x2 = tensor({3.0f, 4.0f}, {1, 2});
  const Tensor w = tensor({1.0f, -1.0f}, {2, 1}), b = tensor({0.5f}, {1});
  const ops::RunPlace place = session.place();
  std::array<ops::OpResult, 1> results;
  ProgramDraft draft(session.place().context, {{x.handle()}});
  Tensor y = ops::relu(ops::batch_mat_mul(x, w) + b);
  Program program = draft.finish({{y.handle()}});
  program.captured();
  program.run(place, {{x2.handle(), w.handle(), b.handle()}}, results);
  EXPECT_EQ(Tensor(session.context(), results[0].handle).item<float>(), 0);
}

TEST(HeaderExamples, Record) {
  Session session;
  const Tensor x = ops::fill({1, 784}, 1, DType::kFloat32);
  Variable w(ops::random_normal({784, 10}));
  const float before = w.value().to_vector<float>()[0];
  auto step = record(
      [&](const Tensor& x) {
        Tensor y = ops::batch_mat_mul(x, w);
        w.assign(w.value() * 0.99);
        return y;
      },
      {&w});
  Tensor y = step(x);
  y = step(x);
  step.info().replayed;
  EXPECT_EQ(step.info().replayed, 1u);
  EXPECT_EQ(y.shape(), (Shape{1, 10}));
  EXPECT_NEAR(w.value().to_vector<float>()[0], before * 0.99 * 0.99, 1e-5);
}

class InAFolder : public testing::Test {
 protected:
  InAFolder() : before_(std::filesystem::current_path()) {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  ~InAFolder() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::filesystem::path before_,
      folder_ = testing::TempDir() + "ebb_header_examples_" + std::to_string(::getpid());
};
using HeaderExamplesOfFiles = InAFolder;

TEST_F(HeaderExamplesOfFiles, Npy) {
  {
    Session session;
    io::save_npy("x.npy", tensor({-1.0f, 2.0f}, {2}));
  }
  Session session;
  Tensor x = io::load_npy("x.npy");
  io::save_npy("y.npy", ops::relu(x));
  EXPECT_EQ(io::load_npy("y.npy").to_vector<float>(), (std::vector<float>{0, 2}));
}

TEST_F(HeaderExamplesOfFiles, SafeTensors) {
  {
    Session session;
    io::save_safetensors("model.safetensors",
                         {.tensors = {{"layer.weight", tensor({1.0f, 2.0f}, {2})}}});
  }
  Session session;
  io::SafeTensors model = io::load_safetensors("model.safetensors");
  Tensor weight = model.at("layer.weight");
  io::save_safetensors("copy.safetensors", model);
  EXPECT_EQ(weight.to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(std::filesystem::exists("copy.safetensors"));
}

}  // namespace
}  // namespace ebb::test
