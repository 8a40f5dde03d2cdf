// The layers of ebb/nn: shapes, what they compute, and the gradient by each weight and by the input
// against finite differences.
#include <gtest/gtest.h>

#include <cmath>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;
constexpr auto kSame = nn::Padding::kSame;

class NnLayers : public testing::Test {
 protected:
  void SetUp() override { nn::set_seed(11); }
  void TearDown() override { nn::set_seed(0); }

  static Tensor numbers(const nn::Dims& dims, double seed) {
    return ops::random_uniform(dims, {.low = -1, .high = 1, .seed = seed});
  }
  static Shape shape_of(nn::Layer& layer, const nn::Dims& dims) {
    return layer(numbers(dims, 3)).shape();
  }
  // Neither small nor alike, so that no error hides in a sum.
  static Tensor weighted(const Tensor& y) {
    const Tensor flat = ops::reshape(y, {-1});
    const auto count = static_cast<std::int64_t>(flat.shape().elements());
    return ops::sum(flat * ops::cos(ops::range(0, static_cast<double>(count)) * 1.7), {0});
  }

  TestSession session_;
};

double product_of(const Tensor& a, const Tensor& b) {
  const Numbers x = a.to_vector<float>(), y = b.to_vector<float>();
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double{x[i]} * y[i];
  return sum;
}

// How the loss changes along one direction, by the gradient and by a small step there and back.
void expect_slope(const std::function<Tensor()>& loss, Variable& at, const Tensor& gradient,
                  const std::string& name) {
  const Tensor start = at.value();
  const Shape shape = start.shape();
  const nn::Dims dims(shape.dims().begin(), shape.dims().end());
  const Tensor direction = ops::random_normal(dims, {.seed = 5});
  constexpr double kStep = 1e-2;
  at.assign(start + direction * kStep);
  const double after = loss().item<float>();
  at.assign(start - direction * kStep);
  const double before = loss().item<float>();
  at.assign(start);
  const double expected = (after - before) / (2 * kStep);
  EXPECT_NEAR(product_of(gradient, direction), expected, 4e-3 * (1 + std::abs(expected))) << name;
}

// By each weight, and by the input.
void expect_gradients(nn::Layer& layer, const Tensor& given,
                      const std::function<Tensor(const Tensor&)>& weighted) {
  Variable x(given, "x");
  const bool whole = given.dtype() == DType::kInt32;
  const auto loss = [&] { return weighted(layer(x)); };
  std::vector<Variable*> by = layer.weights();
  if (!whole) by.push_back(&x);
  const std::vector<Tensor> gradients = value_and_grad(loss, by)().gradients;
  for (std::size_t i = 0; i < by.size(); ++i) {
    EXPECT_EQ(gradients[i].shape(), by[i]->value().shape());
    expect_slope(loss, *by[i], gradients[i], by[i]->name());
  }
}

TEST_F(NnLayers, Dense) {
  nn::Dense plain(3, 4), activated(3, 4, {.activation = ops::Activation::kSigmoid, .bias = false});
  EXPECT_EQ(shape_of(plain, {5, 3}), (Shape{5, 4}));
  EXPECT_EQ(shape_of(plain, {2, 5, 3}), (Shape{2, 5, 4}));
  EXPECT_EQ(shape_of(plain, {3}), (Shape{4}));
  EXPECT_EQ(shape_of(plain, {0, 3}), (Shape{0, 4}));
  EXPECT_EQ(plain.weights().size(), 2u);
  EXPECT_EQ(activated.weights().size(), 1u);
  expect_gradients(plain, numbers({5, 3}, 1), weighted);
  expect_gradients(activated, numbers({2, 5, 3}, 1), weighted);
  EXPECT_ERROR(static_cast<void>(plain(numbers({5, 4}, 1))), kInvalidArgument, "[5,4]");
}

TEST_F(NnLayers, Conv2D) {
  nn::Conv2D valid(2, 5, {.size = {3, 2}}), same(2, 3, {.strides = {2, 2}, .padding = kSame});
  EXPECT_EQ(shape_of(valid, {2, 6, 7, 2}), (Shape{2, 4, 6, 5}));
  EXPECT_EQ(shape_of(same, {2, 7, 6, 2}), (Shape{2, 4, 3, 3}));
  expect_gradients(valid, numbers({2, 6, 7, 2}, 1), weighted);
  expect_gradients(same, numbers({2, 7, 6, 2}, 2), weighted);
  EXPECT_ERROR(static_cast<void>(valid(numbers({6, 7, 2}, 1))), kInvalidArgument, "Conv2D",
               "[6,7,2]", "[batch, height, width, 2]");
}

TEST_F(NnLayers, DepthwiseConv2D) {
  nn::DepthwiseConv2D layer(3, {.padding = kSame, .activation = ops::Activation::kElu}, 2);
  EXPECT_EQ(shape_of(layer, {2, 5, 4, 3}), (Shape{2, 5, 4, 6}));
  expect_gradients(layer, numbers({2, 5, 4, 3}, 1), weighted);
}

TEST_F(NnLayers, Pooling) {
  nn::MaxPool2D most;
  nn::AveragePool2D mean({.size = {3, 3}, .strides = {2, 2}, .padding = kSame});
  nn::GlobalAveragePool2D all;
  nn::Flatten flat;
  EXPECT_EQ(shape_of(most, {2, 5, 4, 3}), (Shape{2, 2, 2, 3}));
  EXPECT_EQ(shape_of(mean, {2, 5, 4, 3}), (Shape{2, 3, 2, 3}));
  EXPECT_EQ(shape_of(all, {2, 5, 4, 3}), (Shape{2, 3}));
  EXPECT_EQ(shape_of(flat, {2, 5, 4, 3}), (Shape{2, 60}));
  EXPECT_EQ(shape_of(flat, {0, 5, 4}), (Shape{0, 20}));
  expect_gradients(mean, numbers({2, 5, 4, 3}, 1), weighted);
  expect_gradients(all, numbers({2, 5, 4, 3}, 1), weighted);
  // Far enough from each other that a small step does not change which is the largest.
  const Tensor apart = ops::reshape(ops::sin(ops::range(0, 64) * 5) * 4, {2, 4, 4, 2});
  expect_gradients(most, apart, weighted);
}

TEST_F(NnLayers, BatchNormByTheBatchAndByWhatItFollowed) {
  nn::BatchNorm layer(3, {.momentum = 0.5});
  const Tensor x = numbers({4, 2, 2, 3}, 1) * 3 + 1;
  layer.train();
  const Tensor y = layer(x);
  const Numbers means = ops::mean(y, {0, 1, 2}).to_vector<float>();
  for (const float mean : means) EXPECT_NEAR(mean, 0, 1e-5);
  for (const float spread : ops::mean(ops::square(y), {0, 1, 2}).to_vector<float>()) {
    EXPECT_NEAR(spread, 1, 1e-2);
  }
  const Numbers own = ops::mean(x, {0, 1, 2}).to_vector<float>();
  const Numbers followed = layer.moving_mean.value().to_vector<float>();
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_NEAR(followed[i], own[i] / 2, 1e-6);
  layer.gamma.assign(numbers({3}, 7));
  expect_gradients(layer, x, weighted);
  layer.train(false);
  const Numbers before = layer.moving_mean.value().to_vector<float>();
  expect_gradients(layer, x, weighted);
  EXPECT_EQ(layer.moving_mean.value().to_vector<float>(), before);
  EXPECT_EQ(layer.weights().size(), 2u);
  EXPECT_EQ(layer.variables().size(), 4u);
}

TEST_F(NnLayers, LayerNorm) {
  nn::LayerNorm layer(5);
  layer.gamma.assign(numbers({5}, 2));
  EXPECT_EQ(shape_of(layer, {2, 3, 5}), (Shape{2, 3, 5}));
  expect_gradients(layer, numbers({2, 3, 5}, 1), weighted);
}

TEST_F(NnLayers, Dropout) {
  nn::Dropout layer(0.25);
  const Tensor x = nn::ones({100, 100});
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
  layer.train();
  const Numbers some = layer(x).to_vector<float>();
  const auto dropped = std::count(some.begin(), some.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(dropped), 2500, 250);
  for (const float each : some) EXPECT_TRUE(each == 0 || std::abs(each - 4.0f / 3) < 1e-6);
  EXPECT_NE(layer(x).to_vector<float>(), some);
  EXPECT_ERROR(nn::Dropout(1.0), kInvalidArgument, "rate 1");
  EXPECT_ERROR(nn::Dropout(std::nan("")), kInvalidArgument, "rate");
}

TEST_F(NnLayers, Embedding) {
  nn::Embedding layer(7, 3);
  const Tensor ids = tensor({1, 6, 1, 0}, {2, 2});
  EXPECT_EQ(layer(ids).shape(), (Shape{2, 2, 3}));
  expect_gradients(layer, ids, weighted);
}

TEST_F(NnLayers, Recurrent) {
  nn::LSTM lstm(3, 4);
  nn::GRU gru(3, 4);
  nn::LSTM all(3, 4, {.sequences = true});
  nn::GRU every(3, 4, {.sequences = true});
  for (nn::Layer* layer : std::vector<nn::Layer*>{&lstm, &gru}) {
    EXPECT_EQ(shape_of(*layer, {2, 5, 3}), (Shape{2, 4}));
    EXPECT_EQ(shape_of(*layer, {2, 0, 3}), (Shape{2, 4}));
    expect_gradients(*layer, numbers({2, 3, 3}, 1), weighted);
  }
  for (nn::Layer* layer : std::vector<nn::Layer*>{&all, &every}) {
    EXPECT_EQ(shape_of(*layer, {2, 5, 3}), (Shape{2, 5, 4}));
    EXPECT_EQ(shape_of(*layer, {2, 0, 3}), (Shape{2, 0, 4}));
    expect_gradients(*layer, numbers({2, 3, 3}, 1), weighted);
  }
  for (nn::Layer* layer : std::vector<nn::Layer*>{&lstm, &gru, &all}) {
    EXPECT_EQ(shape_of(*layer, {0, 5, 3}).dims()[0], 0);
  }
  const Tensor x = numbers({2, 5, 3}, 1);
  all.kernel.assign(lstm.kernel.value());
  all.recurrent_kernel.assign(lstm.recurrent_kernel.value());
  const Tensor last = ops::reshape(ops::slice(all(x), {0, 4, 0}, {2, 1, 4}), {2, 4});
  EXPECT_EQ(last.to_vector<float>(), lstm(x).to_vector<float>());
}

TEST_F(NnLayers, OfNoNumbersAtAllGoByTheirBiases) {
  nn::Dense dense(0, 4);
  nn::LSTM lstm(0, 4);
  nn::GRU gru(0, 4);
  EXPECT_EQ(shape_of(dense, {2, 5, 0}), (Shape{2, 5, 4}));
  for (nn::Layer* layer : std::vector<nn::Layer*>{&lstm, &gru}) {
    EXPECT_EQ(shape_of(*layer, {2, 5, 0}), (Shape{2, 4}));
    EXPECT_EQ(shape_of(*layer, {2, 0, 0}), (Shape{2, 4}));
  }
  gru.bias.assign(nn::ones({12}));
  EXPECT_GT(gru(nn::ones({1, 2, 0})).to_vector<float>()[0], 0);
}

TEST_F(NnLayers, Attention) {
  nn::Attention layer(6, 2), causal(6, 3, {.causal = true});
  EXPECT_EQ(shape_of(layer, {2, 5, 6}), (Shape{2, 5, 6}));
  expect_gradients(layer, numbers({2, 4, 6}, 1), weighted);
  expect_gradients(causal, numbers({2, 4, 6}, 1), weighted);
  EXPECT_EQ(layer.attend(numbers({2, 5, 6}, 1), numbers({2, 3, 6}, 2)).shape(), (Shape{2, 5, 6}));
  EXPECT_ERROR(nn::Attention(6, 4), kInvalidArgument, "4 heads", "6");
  EXPECT_ERROR(nn::Attention(6, 0), kInvalidArgument, "0 heads");
}

// What comes later does not change what came before.
TEST_F(NnLayers, CausalAttentionDoesNotLookAhead) {
  nn::Attention layer(4, 2, {.causal = true});
  const Tensor x = numbers({1, 5, 4}, 1);
  const Tensor later =
      ops::concat({ops::slice(x, {0, 0, 0}, {1, 3, 4}), numbers({1, 2, 4}, 9) * 10}, {.axis = 1});
  const auto first = [&](const Tensor& in) {
    return ops::slice(layer(in), {0, 0, 0}, {1, 3, 4}).to_vector<float>();
  };
  EXPECT_EQ(first(x), first(later));
}

TEST_F(NnLayers, SequentialNamesItsLayers) {
  nn::Sequential net;
  net.add<nn::Dense>("hidden", 3, 4, nn::DenseOptions{.activation = ops::Activation::kRelu});
  net.add<nn::BatchNorm>("norm", 4);
  net.add<nn::Function>("tanh", ops::tanh);
  net.add<nn::Dropout>("dropout", 0.5);
  net.add<nn::Dense>("out", 4, 2);
  EXPECT_EQ(shape_of(net, {5, 3}), (Shape{5, 2}));
  std::string names;
  for (const nn::NamedVariable& each : net.named_variables()) names += each.name + " ";
  EXPECT_EQ(names,
            "hidden/kernel hidden/bias norm/gamma norm/beta norm/moving_mean norm/moving_variance "
            "out/kernel out/bias ");
  EXPECT_EQ(net.weights().size(), 6u);
  EXPECT_ERROR(net.add<nn::Flatten>("out"), kInvalidArgument, "\"out\"");
  net.train();
  EXPECT_TRUE(net.add<nn::Dropout>("late", 0.5).training());
  net.train(false);
  EXPECT_FALSE(net.add<nn::Dropout>("later", 0.5).training());
}

// Weights that two layers have are one variable: it is trained and saved once, under its first name.
TEST_F(NnLayers, NameWhatTheyShareOnce) {
  struct Tied final : nn::Layer {
    nn::Dense dense{4, 4};
    nn::BatchNorm norm{4};
    Tensor operator()(const Tensor& x) override { return norm(dense(ops::tanh(dense(x)))); }
    void parts(nn::Parts& parts) override {
      parts.layer("a", dense);
      parts.layer("norm", norm);
      parts.layer("b", dense);
      parts.state("mean", norm.moving_mean);
      parts.weight("kernel", dense.kernel);
    }
  } net;
  EXPECT_EQ(net.weights(), (std::vector<Variable*>{&net.dense.kernel, &net.dense.bias,
                                                   &net.norm.gamma, &net.norm.beta}));
  std::string names;
  for (const nn::NamedVariable& each : net.named_variables()) names += each.name + " ";
  EXPECT_EQ(names, "a/kernel a/bias norm/gamma norm/beta norm/moving_mean norm/moving_variance ");
  EXPECT_EQ(net.variables().size(), 6u);
}

TEST_F(NnLayers, BeginWithTheSeedsValues) {
  const auto kernel = [] { return nn::Dense(3, 4).kernel.value().to_vector<float>(); };
  nn::set_seed(3);
  const Numbers first = kernel(), second = kernel();
  nn::set_seed(3);
  EXPECT_EQ(kernel(), first);
  EXPECT_NE(first, second);
  nn::set_seed(4);
  EXPECT_NE(kernel(), first);
  nn::set_seed(0);
  EXPECT_NE(kernel(), kernel());
}

}  // namespace
}  // namespace ebb::test
