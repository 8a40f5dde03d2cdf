// The examples at the heads of ebb/nn's headers (and of ebb/io/idx.hpp):
// tools/tests/header_examples_test.py finds them here.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

Tensor ones(const nn::Dims& dims) { return nn::ones(dims); }

class Scaled : public nn::Layer {
 public:
  explicit Scaled(std::int64_t width) : scale(ops::fill({width}, 1, DType::kFloat32)) {}
  Tensor operator()(const Tensor& x) override { return x * scale; }
  void parts(nn::Parts& parts) override { parts.weight("scale", scale); }
  Variable scale;
};

TEST(NnHeaderExamples, Layer) {
  Session session;
  Scaled layer(3);
  EXPECT_EQ(layer(ones({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(layer.named_variables()[0].name, "scale");
}

TEST(NnHeaderExamples, Initial) {
  Session session;
  nn::set_seed(7);
  nn::Dense hidden(784, 128);
  nn::set_seed(0);
  EXPECT_EQ(hidden.kernel.value().shape(), (Shape{784, 128}));
}

TEST(NnHeaderExamples, Dense) {
  Session session;
  const Tensor x = ones({32, 784});
  nn::Dense hidden(784, 128, {.activation = ops::Activation::kRelu});
  Tensor h = hidden(x);
  EXPECT_EQ(h.shape(), (Shape{32, 128}));
}

TEST(NnHeaderExamples, Convolution) {
  Session session;
  nn::Conv2D conv(
      3, 16, {.size = {3, 3}, .padding = nn::Padding::kSame, .activation = ops::Activation::kRelu});
  EXPECT_EQ(conv(ones({1, 8, 8, 3})).shape(), (Shape{1, 8, 8, 16}));
}

TEST(NnHeaderExamples, Recurrent) {
  Session session;
  const Tensor x = ones({2, 3, 64});
  nn::LSTM lstm(64, 128);
  Tensor last = lstm(x);
  nn::GRU gru(64, 128, {.sequences = true});
  EXPECT_EQ(last.shape(), (Shape{2, 128}));
  EXPECT_EQ(gru(x).shape(), (Shape{2, 3, 128}));
}

TEST(NnHeaderExamples, Attention) {
  Session session;
  nn::LayerNorm norm(128);
  Tensor x = ones({1, 3, 128});
  nn::Attention look(128, 4, {.causal = true});
  x = x + look(norm(x));
  EXPECT_EQ(x.shape(), (Shape{1, 3, 128}));
}

TEST(NnHeaderExamples, Sequential) {
  Session session;
  nn::Sequential net;
  net.add<nn::Dense>("hidden", 784, 128, nn::DenseOptions{.activation = ops::Activation::kRelu});
  net.add<nn::Function>("tanh", ops::tanh);
  net.add<nn::Dense>("out", 128, 10);
  EXPECT_EQ(net(ones({1, 784})).shape(), (Shape{1, 10}));
}

TEST(NnHeaderExamples, Optimizers) {
  Session session;
  nn::Dense model(2, 1);
  const Tensor x = ones({4, 2}), y = ones({4, 1});
  const auto loss_of = [&](const Tensor& in, const Tensor& wanted) {
    return nn::mean_squared_error(model(in), wanted);
  };
  const std::vector<float> before = model.kernel.value().to_vector<float>();
  nn::Adam adam(model.weights(), {.learning_rate = 1e-3});
  auto [loss, gradients] = value_and_grad(loss_of, model.weights())(x, y);
  adam.apply(gradients);
  EXPECT_NE(model.kernel.value().to_vector<float>(), before);
}

TEST(NnHeaderExamples, Training) {
  Session session;
  nn::Dense model(2, 3);
  const nn::Batch batch{ones({4, 2}), tensor({0, 1, 2, 0}, {4})};
  model.train();
  nn::Adam adam(model.weights());
  nn::TrainingStep step(model, adam, [&](const Tensor& x, const Tensor& y) {
    return nn::softmax_cross_entropy(model(x), y);
  });
  float loss = step(batch.x, batch.y).item<float>();
  EXPECT_GT(loss, 0);
}

TEST(NnHeaderExamples, TrainingWithoutLabels) {
  Session session;
  nn::Dense model(2, 2);
  const nn::Batch batch{ones({4, 2}), {}};
  nn::Adam adam(model.weights());
  nn::TrainingStep step(model, adam,
                        [&](const Tensor& x) { return nn::mean_squared_error(model(x), x); });
  float loss = step(batch.x).item<float>();
  EXPECT_GT(loss, 0);
}

class NnHeaderExamplesOfFiles : public testing::Test {
 protected:
  NnHeaderExamplesOfFiles() : before_(std::filesystem::current_path()) {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  ~NnHeaderExamplesOfFiles() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

 private:
  const std::filesystem::path before_,
      folder_ = testing::TempDir() + "ebb_nn_examples_" + std::to_string(::getpid());
};

TEST_F(NnHeaderExamplesOfFiles, Files) {
  Session session;
  nn::Dense model(2, 3);
  nn::save("model.safetensors", model);
  nn::load("model.safetensors", model);
  EXPECT_TRUE(std::filesystem::exists("model.safetensors"));
}

TEST_F(NnHeaderExamplesOfFiles, FilesWithAnOptimizer) {
  Session session;
  nn::Dense model(2, 3);
  nn::Adam adam(model.weights());
  nn::save("checkpoint.safetensors", model, adam);
  nn::load("checkpoint.safetensors", model, adam);
  EXPECT_TRUE(std::filesystem::exists("checkpoint.safetensors"));
}

TEST_F(NnHeaderExamplesOfFiles, IdxAndData) {
  std::ofstream("train-images-idx3-ubyte", std::ios::binary)
      .write("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\xff\x00\x33\x66", 20);
  std::ofstream("train-labels-idx1-ubyte", std::ios::binary)
      .write("\0\0\x08\x01\0\0\0\x02\x07\x01", 10);
  Session session;
  Tensor images = io::load_idx("train-images-idx3-ubyte");
  EXPECT_EQ(images.shape(), (Shape{2, 1, 2}));
  nn::Batches batches(nn::load_array("train-images-idx3-ubyte"),
                      nn::load_array("train-labels-idx1-ubyte"), {.size = 64});
  while (std::optional<nn::Batch> batch = batches.next()) {
    Tensor x = ops::cast(batch->x, DType::kFloat32) / 255;
    EXPECT_EQ(x.shape(), (Shape{2, 1, 2}));
  }
}

}  // namespace
}  // namespace ebb::test
