// Losses, optimizers, steps of training, files and batches of ebb/nn.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;

class NnTraining : public testing::Test {
 protected:
  void SetUp() override { nn::set_seed(5); }
  void TearDown() override { nn::set_seed(0); }

  std::uint64_t live() { return session_.context().memory().books.live; }
  // On a device that works on its own, where recorded steps become graphs after a while, and
  // products need not add up alike in them.
  bool is_queued() { return session_.device().link() != nullptr; }
  void expect_alike(const Numbers& a, const Numbers& b, std::size_t which) {
    ASSERT_EQ(a.size(), b.size()) << which;
    if (!is_queued()) {
      EXPECT_EQ(a, b) << which;
    }
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-2) << which;
  }

  TestSession session_;
};

Numbers values(const Tensor& x) { return x.to_vector<float>(); }

// A net with everything that a recording has to follow: dropout draws, batch norm assigns.
struct Net final : nn::Layer {
  nn::Dense hidden{4, 8, {.activation = ops::Activation::kRelu}};
  nn::BatchNorm norm{8};
  nn::Dropout dropout;
  nn::Dense out{8, 3};

  explicit Net(double rate = 0) : dropout(rate) {}
  Tensor operator()(const Tensor& x) override { return out(dropout(norm(hidden(x)))); }
  void parts(nn::Parts& parts) override {
    parts.layer("hidden", hidden);
    parts.layer("norm", norm);
    parts.layer("dropout", dropout);
    parts.layer("out", out);
  }
};

// Points and which of three lines they are nearest to.
nn::Batch examples(std::int64_t count) {
  const Tensor x = ops::random_normal({count, 4}, {.seed = 21});
  const Tensor y = ops::arg_max(ops::slice(x, {0, 0}, {count, 3}), {.axis = 1});
  return {x, y};
}

// ---- losses

TEST_F(NnTraining, Losses) {
  const Tensor a = tensor({1.0f, 2.0f, 4.0f}, {3}), b = tensor({1.5f, 2.0f, 1.0f}, {3});
  EXPECT_NEAR(nn::mean_squared_error(a, b).item<float>(), (0.25 + 9) / 3, 1e-6);
  EXPECT_NEAR(nn::mean_absolute_error(a, b).item<float>(), 3.5 / 3, 1e-6);
  EXPECT_NEAR(nn::huber_loss(a, b).item<float>(), (0.125 + 2.5) / 3, 1e-6);
  const Tensor logits = tensor({1.0f, 2.0f, 0.0f, -1.0f}, {2, 2});
  const double expected = (std::log(1 + std::exp(-1)) + std::log(1 + std::exp(1)) - 0) / 2;
  EXPECT_NEAR(nn::softmax_cross_entropy(logits, tensor({1, 1}, {2})).item<float>(), expected, 1e-6);
  const Tensor shares = tensor({0.0f, 1.0f, 0.0f, 1.0f}, {2, 2});
  EXPECT_NEAR(nn::softmax_cross_entropy(logits, shares).item<float>(), expected, 1e-6);
  EXPECT_NEAR(nn::accuracy(logits, tensor({1, 1}, {2})).item<float>(), 0.5, 1e-6);
  const Tensor huge = tensor({1000.0f, -1000.0f}, {2}), targets = tensor({1.0f, 0.0f}, {2});
  EXPECT_EQ(nn::sigmoid_cross_entropy(huge, targets).item<float>(), 0);
  EXPECT_NEAR(nn::sigmoid_cross_entropy(-huge, targets).item<float>(), 1000, 1e-3);
  EXPECT_NEAR(nn::sigmoid_cross_entropy(tensor({0.5f}, {1}), tensor({1.0f}, {1})).item<float>(),
              std::log(1 + std::exp(-0.5)), 1e-6);
}

TEST_F(NnTraining, LossesRefuseWhatWouldBroadcast) {
  const Tensor column = nn::ones({3, 1}), row = nn::ones({3});
  for (const auto loss : {nn::mean_squared_error, nn::mean_absolute_error,
                          nn::softmax_cross_entropy, nn::sigmoid_cross_entropy}) {
    EXPECT_ERROR(static_cast<void>(loss(column, row)), kInvalidArgument, "[3,1]", "[3]");
  }
  EXPECT_ERROR(static_cast<void>(nn::softmax_cross_entropy(nn::ones({3, 2}), tensor({1, 0}, {2}))),
               kInvalidArgument, "[3,2]", "[2]");
  EXPECT_ERROR(static_cast<void>(nn::softmax_cross_entropy(nn::ones({}), tensor({1}, {1}))),
               kInvalidArgument, "scalar");
}

// ---- optimizers

std::vector<std::unique_ptr<nn::Optimizer>> optimizers_of(nn::Layer& model) {
  std::vector<std::unique_ptr<nn::Optimizer>> all;
  const auto weights = model.weights();
  all.push_back(std::make_unique<nn::Sgd>(weights, nn::SgdOptions{.learning_rate = 0.1}));
  all.push_back(std::make_unique<nn::Momentum>(weights, nn::MomentumOptions{.nesterov = true}));
  all.push_back(std::make_unique<nn::Adam>(weights, nn::AdamOptions{.learning_rate = 0.01}));
  all.push_back(std::make_unique<nn::Adagrad>(weights, nn::AdagradOptions{.learning_rate = 0.1}));
  all.push_back(std::make_unique<nn::Adadelta>(weights, nn::AdadeltaOptions{.learning_rate = 1}));
  all.push_back(std::make_unique<nn::Adamax>(weights, nn::AdamaxOptions{.learning_rate = 0.02}));
  all.push_back(std::make_unique<nn::RmsProp>(weights));
  all.push_back(std::make_unique<nn::RmsProp>(
      weights, nn::RmsPropOptions{.learning_rate = 0.003, .momentum = 0.5}));
  return all;
}

nn::TrainingStep::Loss loss_of(Net& net) {
  return [&net](const Tensor& x, const Tensor& y) { return nn::softmax_cross_entropy(net(x), y); };
}

// Each in a net of its own that begins alike; recorded and not, on the CPU to the bit the same.
TEST_F(NnTraining, EveryOptimizerTrainsRecordedAsNot) {
  const auto batch = examples(32);
  for (std::size_t which = 0; which < 8; ++which) {
    std::vector<Numbers> ends;
    for (const bool recorded : {false, true}) {
      nn::set_seed(9);
      Net net;
      net.train();
      const auto optimizers = optimizers_of(net);
      nn::TrainingStep step(net, *optimizers[which], loss_of(net), {.record = recorded});
      const float first = step(batch.x, batch.y).item<float>();
      for (int i = 0; i < 60; ++i) static_cast<void>(step(batch.x, batch.y));
      EXPECT_LT(step(batch.x, batch.y).item<float>(), 0.8 * first) << which;
      ends.push_back(values(net.hidden.kernel));
      ends.push_back(values(net.norm.moving_variance));
    }
    expect_alike(ends[0], ends[2], which);
    expect_alike(ends[1], ends[3], which);
  }
}

TEST_F(NnTraining, OptimizersRefuseOtherGradients) {
  Net net;
  nn::Adam adam(net.weights());
  const Numbers before = values(net.out.kernel);
  EXPECT_ERROR(adam.apply({}), kInvalidArgument, "0 gradients", "6");
  std::vector<Tensor> wrong;
  for (Variable* each : net.weights()) wrong.push_back(each->value());
  wrong.back() = nn::ones({7});
  EXPECT_ERROR(adam.apply(wrong), kInvalidArgument, "[7]");
  EXPECT_EQ(values(net.out.kernel), before);
  nn::Adam of_nothing(std::vector<Variable*>{});
  of_nothing.apply({});
}

TEST_F(NnTraining, ARecordedStepSeesTheRateAndTheMode) {
  const auto batch = examples(16);
  Net net;
  nn::Sgd sgd(net.weights(), {.learning_rate = 0.1});
  nn::TrainingStep step(net, sgd, loss_of(net));
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.y));
  sgd.set_learning_rate(0);
  const Numbers before = values(net.out.kernel), mean = values(net.norm.moving_mean);
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.y));
  EXPECT_EQ(values(net.out.kernel), before);
  EXPECT_EQ(values(net.norm.moving_mean), mean);
  net.train();
  for (int i = 0; i < 3; ++i) static_cast<void>(step(batch.x, batch.y));
  EXPECT_NE(values(net.norm.moving_mean), mean);
}

TEST_F(NnTraining, DropoutDrawsAnewInARecordedStep) {
  const auto batch = examples(64);
  Net net(0.5);
  net.train();
  nn::Sgd sgd(net.weights(), {.learning_rate = 0});
  nn::TrainingStep step(net, sgd, loss_of(net));
  static_cast<void>(step(batch.x, batch.y));
  EXPECT_NE(step(batch.x, batch.y).item<float>(), step(batch.x, batch.y).item<float>());
}

TEST_F(NnTraining, StepsLeaveNothingBehind) {
  const auto batch = examples(16);
  for (const bool recorded : {false, true}) {
    Net net(0.1);
    net.train();
    nn::Adam adam(net.weights());
    nn::TrainingStep step(net, adam, loss_of(net), {.record = recorded});
    const int first = is_queued() ? 40 : 2;
    for (int i = 0; i < first; ++i) static_cast<void>(step(batch.x, batch.y));
    const std::uint64_t before = live(), bytes = session_.device().in_use();
    for (int i = 0; i < 20; ++i) static_cast<void>(step(batch.x, batch.y));
    EXPECT_EQ(live(), before) << recorded;
    EXPECT_EQ(session_.device().in_use(), bytes) << recorded;
  }
}

// ---- files

class NnFiles : public NnTraining {
 protected:
  ~NnFiles() override { std::filesystem::remove(path_); }
  const std::filesystem::path path_ = testing::TempDir() + "ebb_nn_test.safetensors";
};

TEST_F(NnFiles, LoadWhatWasSaved) {
  Net net, other;
  net.norm.moving_mean.assign(nn::ones({8}));
  nn::save(path_, net, {{"classes", "3"}});
  const auto notes = nn::load(path_, other);
  EXPECT_EQ(notes.at("classes"), "3");
  const Tensor x = examples(5).x;
  EXPECT_EQ(values(net(x)), values(other(x)));
  EXPECT_EQ(values(other.norm.moving_mean), Numbers(8, 1));
}

TEST_F(NnFiles, LeaveTheModelWhereTheyDoNotFit) {
  Net net;
  const Numbers before = values(net.hidden.kernel);
  nn::Dense dense(4, 8);
  nn::save(path_, dense);
  EXPECT_ERROR(static_cast<void>(nn::load(path_, net)), kInvalidArgument, "hidden/kernel");
  nn::Dense wider(4, 9);
  EXPECT_ERROR(static_cast<void>(nn::load(path_, wider)), kInvalidArgument, "\"kernel\"", "[4,8]",
               "[4,9]");
  nn::Dense fewer(4, 8, {.bias = false});
  EXPECT_ERROR(static_cast<void>(nn::load(path_, fewer)), kInvalidArgument, "\"bias\"",
               "in the file");
  EXPECT_EQ(values(net.hidden.kernel), before);
}

// ---- data

TEST_F(NnTraining, BatchesCoverEachEpochOnce) {
  const Tensor x = ops::reshape(ops::range(0, 20), {10, 2});
  const Tensor y = ops::range(0, 10, {.dtype = DType::kInt32});
  nn::Batches batches(x, y, {.size = 4});
  EXPECT_EQ(batches.per_epoch(), 3);
  std::vector<std::vector<int>> orders;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> seen;
    while (const auto batch = batches.next()) {
      const Numbers rows = values(batch->x);
      const auto labels = batch->y.to_vector<int>();
      for (std::size_t i = 0; i < labels.size(); ++i) {
        EXPECT_EQ(rows[2 * i], 2.0f * static_cast<float>(labels[i]));
        seen.push_back(labels[i]);
      }
    }
    orders.push_back(seen);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
  EXPECT_NE(orders[0], orders[1]);
}

TEST_F(NnTraining, BatchesInOrderAndWhole) {
  const Tensor x = ops::cast(ops::range(0, 10), DType::kUint8);
  nn::Batches batches(x, x, {.size = 4, .shuffle = false, .drop_last = true});
  EXPECT_EQ(batches.per_epoch(), 2);
  EXPECT_EQ(batches.next()->x.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 2, 3}));
  EXPECT_EQ(batches.next()->y.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{4, 5, 6, 7}));
  EXPECT_FALSE(batches.next().has_value());
  EXPECT_EQ(batches.next()->x.to_vector<std::uint8_t>(), (std::vector<std::uint8_t>{0, 1, 2, 3}));
}

TEST_F(NnTraining, BatchesRefuseWhatDoesNotFit) {
  const Tensor ten = nn::ones({10}), nine = nn::ones({9});
  EXPECT_ERROR(nn::Batches(ten, nine), kInvalidArgument, "[10]", "[9]");
  EXPECT_ERROR(nn::Batches(ten, ten, {.size = 0}), kInvalidArgument, "size of 0");
  EXPECT_ERROR(nn::Batches(nn::ones({}), ten), kInvalidArgument, "scalar");
  nn::Batches none(nn::ones({0, 3}), nn::ones({0}));
  EXPECT_EQ(none.per_epoch(), 0);
  EXPECT_FALSE(none.next().has_value());
}

}  // namespace
}  // namespace ebb::test
