// TrainingSteps within the loss of another, or of themselves, and layers that are made, replaced or added meanwhile.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;

Tensor mean_square(const Tensor& x) { return ops::mean(ops::square(x), {0, 1}); }

class NnStepsNested : public testing::Test {
 protected:
  void SetUp() override { nn::set_seed(6); }
  void TearDown() override {
    nn::set_seed(0);
    EXPECT_EQ(session_.context().memory().books.live, live_);
  }

  // What losses(options) gives, recorded or not; made of the same seed.
  template <typename Fn>
  void expect_same(Fn losses) {
    std::array<Numbers, 2> ends;
    for (const bool recorded : {false, true}) {
      nn::set_seed(6);
      ends[recorded] = losses(nn::TrainingOptions{.record = recorded, .exact = true});
    }
    ASSERT_EQ(ends[0].size(), ends[1].size());
    for (std::size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-4) << i;
  }

  TestSession session_;
  const Tensor x_ = ops::random_normal({16, 4}, {.seed = 21});
  const std::uint64_t live_ = session_.context().memory().books.live;
};

// ---- steps within steps

TEST_F(NnStepsNested, WithinTheirOwnLossAreRecordedWithIt) {
  for (const double dropped : {0.0, 0.5}) {
    expect_same([&](const nn::TrainingOptions& options) {
      nn::Dense net(4, 3);
      nn::Dropout dropout(dropped);
      dropout.train();
      nn::Sgd sgd(net.weights());
      nn::TrainingStep* again = nullptr;
      nn::TrainingStep step(
          net, sgd,
          [&](const Tensor& x) {
            const Tensor loss = mean_square(dropout(net(x)));
            if (x.shape().dims()[0] > 1) static_cast<void>((*again)(ops::slice(x, {0, 0}, {1, 4})));
            return loss;
          },
          options);
      again = &step;
      Numbers losses;
      for (int i = 0; i < 5; ++i) losses.push_back(step(x_).item<float>());
      if (options.record) {
        EXPECT_EQ(step.info().replayed, 4);
      }
      return losses;
    });
  }
}

TEST_F(NnStepsNested, WithinTheirOwnLossMayBeOthers) {
  expect_same([&](const nn::TrainingOptions& options) {
    nn::Dense net(4, 3);
    nn::Sgd sgd(net.weights());
    nn::TrainingStep* again = nullptr;
    nn::TrainingStep step(
        net, sgd,
        [&](const Tensor& x) {
          const Tensor loss = mean_square(net(x));
          if (x.shape().dims()[0] > 1) {
            sgd.set_learning_rate(0.5);
            static_cast<void>((*again)(ops::slice(x, {0, 0}, {1, 4})));
          }
          return loss;
        },
        options);
    again = &step;
    Numbers losses;
    for (int i = 0; i < 5; ++i) losses.push_back(step(x_).item<float>());
    return losses;
  });
}

TEST_F(NnStepsNested, SeeTheRateOfAnother) {
  expect_same([&](const nn::TrainingOptions& options) {
    nn::Dense inner_net(4, 4), net(4, 4);
    auto inner_sgd = std::make_unique<nn::Sgd>(inner_net.weights());
    nn::Sgd sgd(net.weights());
    nn::TrainingStep inner(
        inner_net, *inner_sgd, [&](const Tensor& x) { return mean_square(inner_net(x)); }, options);
    nn::TrainingStep step(
        net, sgd,
        [&](const Tensor& x) {
          static_cast<void>(inner(x));
          return mean_square(net(x) - inner_net(x));
        },
        options);
    Numbers losses;
    for (const double rate : {0.01, 0.01, 1.0, 1.0, 0.1}) {
      inner_sgd->set_learning_rate(rate);
      losses.push_back(step(x_).item<float>());
      losses.push_back(inner(x_).item<float>());
    }
    if (options.record) {
      EXPECT_EQ(step.info().recorded, 3);
      EXPECT_EQ(step.info().replayed, 2);
    }
    return losses;
  });
}

TEST_F(NnStepsNested, SeeTheModesThatAnotherReplays) {
  expect_same([&](const nn::TrainingOptions& options) {
    nn::Dense net(4, 4);
    nn::BatchNorm norm(4);
    nn::Dropout whole(0);
    nn::Sgd inner_sgd(norm.weights()), sgd(net.weights());
    nn::TrainingStep inner(
        norm, inner_sgd, [&](const Tensor& x) { return mean_square(norm(x)); }, options);
    nn::TrainingStep step(
        net, sgd,
        [&](const Tensor& x) {
          static_cast<void>(inner(x));
          return mean_square(whole(net(x)) - norm.moving_mean);
        },
        options);
    norm.train();
    static_cast<void>(inner(x_));
    Numbers losses;
    for (int i = 0; i < 8; ++i) {
      whole.train(i >= 2);
      norm.train(i < 4);
      losses.push_back(step(x_ + 1.0).item<float>());
    }
    losses.push_back(ops::sum(norm.moving_mean, {0}).item<float>());
    return losses;
  });
}

// ---- layers that are others

struct Replaceable final : nn::Layer {
  nn::Conv2D conv{1, 2, {.size = {1, 1}}};
  std::unique_ptr<nn::Layer> pool;

  Tensor operator()(const Tensor& x) override { return (*pool)(conv(x)); }
  void parts(nn::Parts& parts) override {
    parts.layer("conv", conv);
    parts.layer("pool", *pool);
  }
};

TEST_F(NnStepsNested, SeeALayerAtTheAddressOfAnother) {
  const Tensor image = ops::reshape(x_, {4, 4, 4, 1});
  expect_same([&](const nn::TrainingOptions& options) {
    Replaceable net;
    net.pool = std::make_unique<nn::MaxPool2D>();
    nn::Sgd sgd(net.weights());
    nn::TrainingStep step(
        net, sgd,
        [&](const Tensor& x) {
          const Tensor y = net(x);
          return ops::mean(ops::square(y), {0, 1, 2, 3});
        },
        options);
    Numbers losses{step(image).item<float>()};
    net.pool.reset();
    net.pool = std::make_unique<nn::AveragePool2D>();
    losses.push_back(step(image).item<float>());
    losses.push_back(step(image).item<float>());
    return losses;
  });
}

TEST_F(NnStepsNested, SeeLayersThatATeacherGets) {
  expect_same([&](const nn::TrainingOptions& options) {
    nn::Dense net(4, 3);
    nn::Sequential teacher;
    teacher.add<nn::Dense>("first", 4, 3);
    nn::Sgd sgd(net.weights());
    nn::TrainingStep step(
        net, sgd, [&](const Tensor& x) { return mean_square(net(x) - teacher(x)); }, options);
    Numbers losses;
    for (int i = 0; i < 6; ++i) {
      if (i == 2) teacher.add<nn::Dense>("second", 3, 3);
      if (i == 4) teacher.add<nn::Function>("twice", [](const Tensor& x) { return x * 2.0; });
      losses.push_back(step(x_).item<float>());
    }
    if (options.record) {
      EXPECT_EQ(step.info().replayed, 3);
    }
    return losses;
  });
}

TEST_F(NnStepsNested, AreReplayedWhereTheLossMakesALayerForItself) {
  nn::Dense net(4, 3);
  std::unique_ptr<nn::Dropout> kept;
  nn::Sgd sgd(net.weights(), {.learning_rate = 0});
  nn::TrainingStep step(net, sgd, [&](const Tensor& x) {
    if (kept == nullptr) kept = std::make_unique<nn::Dropout>(0.5);
    nn::Dropout own(0.5);
    own.train();
    return mean_square((*kept)(own(net(x))));
  });
  Numbers losses;
  for (int i = 0; i < 10; ++i) losses.push_back(step(x_).item<float>());
  EXPECT_NE(losses[8], losses[9]);
  EXPECT_EQ(step.info().calls, 10);
  EXPECT_EQ(step.info().recorded, 1);
  EXPECT_EQ(step.info().replayed, 9);
  kept->train();
  for (int i = 0; i < 2; ++i) static_cast<void>(step(x_));
  EXPECT_EQ(step.info().recorded, 2);
  EXPECT_EQ(step.info().replayed, 10);
  EXPECT_EQ(step.info().programs, 1);
}

TEST_F(NnStepsNested, SayWhetherTheyAreReplayed) {
  nn::Dense net(4, 3);
  nn::Sgd sgd(net.weights());
  const auto loss = [&](const Tensor& x) { return mean_square(net(x)); };
  nn::TrainingStep step(net, sgd, loss), unrecorded(net, sgd, loss, {.record = false});
  EXPECT_EQ(step.info().calls, 0);
  for (int i = 0; i < 3; ++i) {
    sgd.set_learning_rate(0.1 * (i + 1));
    for (int j = 0; j < 2; ++j) static_cast<void>(step(x_));
    static_cast<void>(unrecorded(x_));
  }
  EXPECT_EQ(step.info().calls, 6);
  EXPECT_EQ(step.info().recorded, 3);
  EXPECT_EQ(step.info().replayed, 3);
  EXPECT_EQ(step.info().programs, 1);
  EXPECT_GT(step.info().operations, 0);
  EXPECT_EQ(unrecorded.info().calls, 3);
  EXPECT_EQ(unrecorded.info().replayed, 0);
}

}  // namespace
}  // namespace ebb::test
