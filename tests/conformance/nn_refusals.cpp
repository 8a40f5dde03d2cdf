// What layers refuse: inputs of other shapes, as soon as they are given, and options, as soon as a
// layer is made of them. Each error names the layer.
#include <gtest/gtest.h>

#include <cmath>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

constexpr auto kSame = nn::Padding::kSame;

class NnRefusals : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(session_.context().memory().books.live, 0u); }

  static void refuses(nn::Layer& layer, const std::string& name, const std::string& allowed,
                      const std::vector<nn::Dims>& given) {
    for (const nn::Dims& dims : given) {
      const Tensor x = nn::ones(dims);
      EXPECT_ERROR(static_cast<void>(layer(x)), kInvalidArgument, "[nn::" + name + "]",
                   "an input of shape " + x.shape().to_string(), "allowed: " + allowed);
    }
  }

  TestSession session_;
};

TEST_F(NnRefusals, InputsOfProducts) {
  nn::Dense dense(3, 2);
  refuses(dense, "Dense", "[..., 3]", {{}, {2}, {5, 2}, {2, 3, 4}, {0, 2}, {3, 0}});
  EXPECT_EQ(dense(nn::ones({2, 0, 3})).shape(), (Shape{2, 0, 2}));
  nn::LSTM lstm(3, 4);
  nn::GRU gru(3, 4);
  refuses(lstm, "LSTM", "[batch, time, 3]", {{2, 3}, {2, 5, 4}, {3}});
  refuses(gru, "GRU", "[batch, time, 3]", {{2, 3}, {2, 5, 4}, {3}});
  nn::Attention attention(6, 2);
  refuses(attention, "Attention", "[batch, time, 6]", {{5, 6}, {2, 5, 4}, {}});
  EXPECT_ERROR(static_cast<void>(attention.attend(nn::ones({2, 5, 6}), nn::ones({3, 5, 6}))),
               kInvalidArgument, "[nn::Attention]", "[3,5,6]", "[2, time, 6]");
}

TEST_F(NnRefusals, InputsOfImages) {
  const std::vector<nn::Dims> no_images{{}, {5, 5, 3}, {1, 2, 5, 5, 3}};
  nn::Conv2D conv(3, 2);
  nn::DepthwiseConv2D depthwise(3);
  refuses(conv, "Conv2D", "[batch, height, width, 3]", no_images);
  refuses(conv, "Conv2D", "[batch, height, width, 3]", {{1, 5, 5, 2}});
  refuses(depthwise, "DepthwiseConv2D", "[batch, height, width, 3]", no_images);
  refuses(depthwise, "DepthwiseConv2D", "[batch, height, width, 3]", {{1, 5, 5, 1}});
  nn::MaxPool2D most;
  nn::AveragePool2D mean;
  nn::GlobalAveragePool2D all;
  nn::Flatten flat;
  refuses(most, "MaxPool2D", "[batch, height, width, channels]", no_images);
  refuses(mean, "AveragePool2D", "[batch, height, width, channels]", no_images);
  refuses(all, "GlobalAveragePool2D", "[batch, height, width, channels]", no_images);
  refuses(flat, "Flatten", "[batch, ...]", {{}});
}

TEST_F(NnRefusals, InputsOfNorms) {
  for (const bool trains : {false, true}) {
    nn::BatchNorm one(1), three(3);
    one.train(trains);
    three.train(trains);
    refuses(one, "BatchNorm", "[..., 1]", {{2, 4}, {}});
    refuses(three, "BatchNorm", "[..., 3]", {{2, 4}, {2, 1}, {3, 3, 2}});
    refuses(three, "BatchNorm", "[batch, ..., 3]", {{3}});
  }
  nn::LayerNorm one(1), three(3);
  refuses(one, "LayerNorm", "[..., 1]", {{1, 4}, {}});
  refuses(three, "LayerNorm", "[..., 3]", {{1, 4}, {1, 1}});
}

TEST_F(NnRefusals, InputsOfOtherDTypes) {
  const std::string allowed = "float32 is allowed";
  for (const bool trains : {false, true}) {
    nn::BatchNorm norm(2);
    norm.train(trains);
    for (const DType dtype : {DType::kFloat64, DType::kFloat16, DType::kInt32}) {
      const Tensor x = ops::cast(nn::ones({3, 2}), dtype);
      EXPECT_ERROR(norm(x), kInvalidArgument, "[nn::BatchNorm]",
                   "an input of " + std::string(name_of(dtype)), allowed);
    }
  }
  nn::Embedding embedding(3, 2);
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kBool}) {
    EXPECT_ERROR(embedding(ops::cast(nn::ones({2}), dtype)), kInvalidArgument, "[nn::Embedding]",
                 "an input of " + std::string(name_of(dtype)), "int32, int64, uint8 or int8");
  }
}

// As int32 they would be the first rows.
TEST_F(NnRefusals, IdsThatNameNoRow) {
  if (session_.device().link() != nullptr) GTEST_SKIP() << "a GPU would have to wait for that";
  nn::Embedding embedding(3, 2);
  constexpr std::int64_t kBeyond = std::int64_t{1} << 32;
  for (const std::int64_t id : {kBeyond, kBeyond + 1, 2 - kBeyond, INT64_MIN, INT64_MAX,
                                std::int64_t{3}, std::int64_t{-1}}) {
    EXPECT_ERROR(embedding(tensor({id}, {1})), kInvalidArgument, "not in [0, 2]");
  }
  EXPECT_EQ(embedding(tensor({std::int64_t{2}, std::int64_t{0}}, {2})).to_vector<float>(),
            embedding(tensor({2, 0}, {2})).to_vector<float>());
}

TEST_F(NnRefusals, VariablesOfOtherShapes) {
  Variable named(nn::ones({2}), "scale"), unnamed(nn::ones({2}));
  EXPECT_ERROR(named.assign(nn::ones({3})), kInvalidArgument,
               "[variable] float32 [3] was given to \"scale\", it is float32 [2]");
  EXPECT_ERROR(unnamed.assign(nn::ones({3})), kInvalidArgument,
               "[variable] float32 [3] was given to a variable without a name, it is float32 [2]");
}

TEST_F(NnRefusals, OptimizersOfNoVariableAndWithoutANumberForARate) {
  Variable w(nn::ones({2}), "w");
  EXPECT_ERROR(nn::Sgd({&w, nullptr}), kInvalidArgument, "[nn::Optimizer]",
               "variable 2 of 2 is null");
  nn::Adam adam({&w}, {.learning_rate = 0.5});
  for (const double rate : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    EXPECT_ERROR(nn::Sgd({&w}, {.learning_rate = rate}), kInvalidArgument, "[nn::Optimizer]",
                 "learning rate", "a finite one is allowed");
    EXPECT_ERROR(nn::Adam({&w}, {.learning_rate = rate}), kInvalidArgument, "learning rate");
    EXPECT_ERROR(adam.set_learning_rate(rate), kInvalidArgument, "[nn::Optimizer]",
                 "learning rate");
  }
  EXPECT_EQ(adam.learning_rate(), 0.5);
}

TEST_F(NnRefusals, ABatchWithoutElementsHasNoMean) {
  nn::BatchNorm norm(2);
  EXPECT_EQ(norm(nn::ones({0, 2})).shape(), (Shape{0, 2}));
  norm.train();
  refuses(norm, "BatchNorm", "while it trains, one with elements", {{0, 2}, {3, 0, 2}});
  EXPECT_EQ(norm.moving_mean.value().to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(norm.moving_variance.value().to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST_F(NnRefusals, WindowsOfConvolutions) {
  const auto refused = [](const nn::ConvOptions& options, const std::string& what) {
    EXPECT_ERROR(nn::Conv2D(1, 2, options), kInvalidArgument, "[nn::Conv2D] " + what);
    EXPECT_ERROR(nn::DepthwiseConv2D(1, options), kInvalidArgument,
                 "[nn::DepthwiseConv2D] " + what);
  };
  for (const nn::Padding padding : {nn::Padding::kValid, kSame}) {
    refused({.strides = {1}, .padding = padding}, "1 strides were given, 2 are needed");
    refused({.dilations = {}, .padding = padding}, "0 dilations were given, 2 are needed");
    refused({.size = {3, 3, 3}, .padding = padding}, "3 sizes were given, 2 are needed");
    refused({.strides = {1, 0}, .padding = padding}, "strides 1 and 0 were given, 1 or more");
    refused({.dilations = {-1, 1}, .padding = padding}, "dilations -1 and 1 were given");
  }
}

TEST_F(NnRefusals, WindowsOfPools) {
  const auto refused = [](const nn::PoolOptions& options, const std::string& what) {
    EXPECT_ERROR(nn::MaxPool2D{options}, kInvalidArgument, "[nn::MaxPool2D] " + what);
    EXPECT_ERROR(nn::AveragePool2D{options}, kInvalidArgument, "[nn::AveragePool2D] " + what);
  };
  for (const nn::Padding padding : {nn::Padding::kValid, kSame}) {
    refused({.size = {}, .padding = padding}, "0 sizes were given, 2 are needed");
    refused({.size = {1, 2, 2, 1}, .padding = padding}, "4 sizes were given, 2 are needed");
    refused({.strides = {2}, .padding = padding}, "1 strides were given, 2 are needed");
    refused({.size = {0, 2}, .padding = padding}, "sizes 0 and 2 were given, 1 or more");
  }
}

TEST_F(NnRefusals, WindowsOfPads) {
  const nn::Dims image{1, 5, 5, 1}, two{2, 2}, huge{INT64_MAX, INT64_MAX};
  EXPECT_EQ(nn::pads_of(kSame, image, two, two), (nn::Dims{0, 1, 0, 1}));
  EXPECT_ERROR(nn::pads_of(kSame, {5, 5}, two, two), kInvalidArgument, "[nn::pads_of]", "2 extents",
               "4 are needed");
  EXPECT_ERROR(nn::pads_of(kSame, image, {2}, two), kInvalidArgument, "[nn::pads_of] 1 sizes");
  EXPECT_ERROR(nn::pads_of(kSame, image, two, {}), kInvalidArgument, "[nn::pads_of] 0 strides");
  EXPECT_ERROR(nn::pads_of(kSame, image, two, two, {1}), kInvalidArgument, "1 dilations");
  EXPECT_ERROR(nn::pads_of(kSame, image, two, {0, 1}), kInvalidArgument, "strides 0 and 1");
  EXPECT_ERROR(nn::pads_of(kSame, image, huge, two, two), kInvalidArgument, "64 bits");
}

TEST_F(NnRefusals, FunctionsThatAreNone) {
  EXPECT_ERROR(nn::Dense(3, 2, {.initial = nullptr}), kInvalidArgument, "[nn::Dense]",
               "initializer");
  EXPECT_ERROR(nn::Conv2D(3, 2, {.initial = nullptr}), kInvalidArgument, "[nn::Conv2D]",
               "initializer");
  const auto square = [](const nn::Dims&) { return nn::ones({3, 3}); };
  EXPECT_ERROR(nn::Dense(3, 2, {.initial = square}), kInvalidArgument, "[nn::Dense]", "[3,3]",
               "[3,2]");
  EXPECT_ERROR(nn::Function(nullptr), kInvalidArgument, "[nn::Function]");
  nn::Sequential net;
  EXPECT_ERROR(net.add_layer("none", nullptr), kInvalidArgument, "[nn::Sequential]", "\"none\"");
}

}  // namespace
}  // namespace ebb::test
