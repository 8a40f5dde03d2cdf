// Tensors as C++ values, and files of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

TEST(TensorApi, OperatorsAndFunctions) {
  TestSession session;
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor y = ops::relu(x - 2.5) + x * 2;
  EXPECT_EQ(y.to_vector<float>(), (Floats{2, 4, 6.5f, 9.5f}));
  EXPECT_EQ((1 - x / 2).to_vector<float>(), (Floats{0.5f, 0, -0.5f, -1}));
  EXPECT_EQ(ops::sum(y, {0, 1}).item<float>(), 22.0f);
  EXPECT_EQ(ops::top_k(x, 1)[1].to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(ops::concat({x, x}).shape(), (Shape{4, 2}));
  EXPECT_EQ(ops::equal(x, x).to_vector<std::uint8_t>(), (std::vector<std::uint8_t>(4, 1)));
}

TEST(TensorApi, OptionsHaveTheTablesDefaults) {
  TestSession session;
  const Tensor x = ops::reshape(ops::range(0, 32), {1, 4, 4, 2});
  const Tensor filter = ops::reshape(ops::range(0, 24), {2, 2, 2, 3});
  const ops::Conv2DOptions said{.strides = {1, 1},
                                .pads = {0, 0, 0, 0},
                                .dilations = {1, 1},
                                .output_size = {3, 3},
                                .channels_first = false};
  const Tensor result = ops::conv2d(x, filter);
  EXPECT_EQ(result.shape(), (Shape{1, 3, 3, 3}));
  EXPECT_EQ(result.to_vector<float>(), ops::conv2d(x, filter, said).to_vector<float>());
  // What fits, rounded down: padded to 6, a reach of 3.
  const Tensor wide =
      ops::conv2d(x, filter, {.strides = {2, 3}, .pads = {1, 1, 1, 1}, .dilations = {2, 2}});
  EXPECT_EQ(wide.shape(), (Shape{1, 2, 2, 3}));
  EXPECT_EQ(ops::max_pool(x, {5, 5}).shape(), (Shape{1, 0, 0, 2}));
  const Tensor fused = ops::fused_conv2d(
      x, filter,
      {.bias = tensor({-500.0f, 0.0f, 0.0f}, {3}), .activation = ops::Activation::kRelu});
  EXPECT_EQ(fused.to_vector<float>()[0], std::max(result.to_vector<float>()[0] - 500, 0.0f));
}

// Of more variables than other operations have results, and to the bit.
TEST(TensorApi, AdamIsTheChainThatItStandsFor) {
  TestSession session;
  constexpr std::int64_t kVariables = 30;
  std::vector<Tensor> inputs{tensor({0.81f}, {}), tensor({0.998001f}, {})};
  for (std::int64_t i = 0; i < kVariables; ++i) {
    for (const double seed : {1, 2, 3, 4}) {
      const Tensor given = ops::random_uniform(
          {i % 3 + 1, 17}, {.low = -2, .high = 2, .seed = seed + static_cast<double>(i)});
      inputs.push_back(seed == 3 ? ops::abs(given) : given);
    }
  }
  const std::vector<Tensor> made = ops::adam_update(
      inputs[0], inputs[1], {inputs.begin() + 2, inputs.end()}, {.learning_rate = 0.01});
  ASSERT_EQ(made.size(), 2u + 3 * kVariables);
  EXPECT_EQ(made[0].item<float>(), (inputs[0] * 0.9).item<float>());
  EXPECT_EQ(made[1].item<float>(), (inputs[1] * 0.999).item<float>());
  for (std::size_t i = 0; i < kVariables; ++i) {
    const Tensor &value = inputs[2 + 4 * i], &gradient = inputs[5 + 4 * i];
    const Tensor first = inputs[3 + 4 * i] * 0.9 + gradient * (1 - 0.9);
    const Tensor second = inputs[4 + 4 * i] * 0.999 + ops::square(gradient) * (1 - 0.999);
    const Tensor spread = ops::sqrt(second / (1 - inputs[1]));
    const Tensor next = first / (1 - inputs[0]) / (spread + 1e-7) * -0.01 + value;
    EXPECT_EQ(made[2 + 3 * i].to_vector<float>(), next.to_vector<float>()) << i;
    EXPECT_EQ(made[3 + 3 * i].to_vector<float>(), first.to_vector<float>()) << i;
    EXPECT_EQ(made[4 + 3 * i].to_vector<float>(), second.to_vector<float>()) << i;
  }
}

// 0.9 times the least number above zero is rounded to itself: what is kept would stay there for ever,
// where some processors take a hundred times as long. Other operations give such numbers as they are.
TEST(TensorApi, WhatAnOptimizerKeepsComesToNothing) {
  TestSession session;
  if (session.device().kind() == DeviceKind::kCuda) GTEST_SKIP() << "of the CPU";
  const Tensor power = tensor({0.5f}, {}), none = ops::zeros_like(tensor(Floats(300), {300}));
  Tensor kept = none + 2e-38;
  for (int i = 0; i < 20; ++i) kept = ops::adam_update(power, power, {none, kept, none, none})[3];
  EXPECT_EQ(kept.to_vector<float>(), Floats(300));
  EXPECT_EQ((tensor({1e-40f}, {1}) * 1.0).to_vector<float>(), (Floats{1e-40f}));
}

// Rows that rise, fall, and have the same number many times; few and many of them are wanted.
TEST(TensorApi, TopKIsTheStartOfASort) {
  TestSession session;
  constexpr std::int64_t kLength = 3000;
  Floats rows;
  for (int row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < kLength; ++i) {
      const auto at = static_cast<float>(i), mixed = static_cast<float>(i * 7919 % kLength);
      rows.push_back(row == 0 ? at : row == 1 ? -at : row == 2 ? mixed : std::fmod(mixed, 50.0f));
    }
  }
  const Tensor x = tensor(rows, {4, kLength});
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{10}, std::int64_t{300}, kLength}) {
    const std::vector<std::int32_t> found = ops::top_k(x, k)[1].to_vector<std::int32_t>();
    for (std::size_t row = 0; row < 4; ++row) {
      const float* values = rows.data() + row * kLength;
      std::vector<std::int32_t> order(kLength);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int a, int b) { return values[a] > values[b]; });
      const auto* ours = found.data() + row * static_cast<std::size_t>(k);
      EXPECT_TRUE(std::equal(ours, ours + k, order.begin())) << row << " " << k;
    }
  }
}

TEST(TensorApi, CopiesShareAndEndOnTheirOwn) {
  TestSession session;
  Context& context = session.context();
  Tensor a = tensor({1.0f, 2.0f}, {2});
  {
    const Tensor b = a;
    EXPECT_EQ(context.memory().books.live, 2u);
    EXPECT_EQ(context.memory().books.storages.count, 1u);
    a = Tensor();
    EXPECT_EQ(b.to_vector<float>(), (Floats{1, 2}));
  }
  EXPECT_EQ(context.memory().books.live, 0u);
}

TEST(TensorApi, ScopesEndWhatIsMadeInThem) {
  TestSession session;
  Tensor kept, dropped;
  {
    Scope scope("step");
    kept = scope.keep(tensor({3.0f}, {1}) * 2);
    dropped = tensor({1.0f}, {1});
  }
  EXPECT_EQ(kept.item<float>(), 6.0f);
  EXPECT_ERROR(dropped.to_vector<float>(), kStaleHandle, "has ended");
  EXPECT_EQ(session.context().memory().books.live, 1u);
}

TEST(TensorApi, SaysWhatIsWrong) {
  EXPECT_ERROR(tensor({1.0f}, {1}), kWrongState, "[session]");
  TestSession session;
  EXPECT_ERROR(tensor({1.0f}, {2}), kInvalidArgument, "1 elements were given, shape [2] has 2");
  EXPECT_ERROR(tensor({1.0f}, {1}).to_vector<double>(), kInvalidArgument, "float64", "float32");
  EXPECT_ERROR(tensor({1.0f, 2.0f}, {2}).item<float>(), kInvalidArgument, "one element");
  EXPECT_ERROR(Tensor().shape(), kInvalidArgument, "none");
}

class Files : public testing::Test {
 protected:
  Files() { std::filesystem::create_directories(folder_); }
  ~Files() override { std::filesystem::remove_all(folder_); }
  std::string at(const std::string& name) const { return folder_ + "/" + name; }

  const std::string folder_ = testing::TempDir() + "ebb_files_" + std::to_string(::getpid());
  TestSession session_;
};

TEST_F(Files, NpyComesBackToTheBit) {
  for (const DType dtype :
       {DType::kFloat32, DType::kInt32, DType::kBool, DType::kComplex64, DType::kFloat64,
        DType::kInt64, DType::kUint8, DType::kFloat16, DType::kInt8}) {
    const Tensor made = ops::cast(tensor({1.0f, 0.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3}), dtype);
    io::save_npy(at("x.npy"), made);
    const Tensor again = io::load_npy(at("x.npy"));
    EXPECT_EQ(again.dtype(), dtype);
    EXPECT_EQ(again.shape(), (Shape{2, 3}));
    std::vector<std::byte> a(6 * size_of(dtype)), b(a.size());
    made.read(a);
    again.read(b);
    EXPECT_EQ(a, b) << name_of(dtype);
  }
  io::save_npy(at("scalar.npy"), scalar(2.5f));
  EXPECT_EQ(io::load_npy(at("scalar.npy")).shape(), Shape{});
  io::save_npy(at("empty.npy"), tensor(Floats{}, {0, 3}));
  EXPECT_EQ(io::load_npy(at("empty.npy")).shape(), (Shape{0, 3}));
}

TEST_F(Files, SafetensorsComeBackToTheBit) {
  io::SafeTensors model;
  model.tensors.emplace_back("weights", tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}));
  model.tensors.emplace_back("half", ops::cast(tensor({0.5f, 1.5f}, {2}), DType::kBfloat16));
  model.tensors.emplace_back("ids", tensor({1, 2, 3}, {3}));
  model.tensors.emplace_back("none", tensor(Floats{}, {0}));
  io::save_safetensors(at("m.safetensors"), model);
  const auto again = io::load_safetensors(at("m.safetensors"));
  ASSERT_EQ(again.tensors.size(), 4u);
  EXPECT_EQ(again.at("weights").to_vector<float>(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(again.at("ids").to_vector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(again.at("half").dtype(), DType::kBfloat16);
  EXPECT_EQ(ops::cast(again.at("half"), DType::kFloat32).to_vector<float>(), (Floats{0.5f, 1.5f}));
  EXPECT_EQ(again.at("none").shape(), Shape{0});
}

}  // namespace
}  // namespace ebb::test
