// What a TrainingStep sees of what it was not made with: other models, its input's variable, layers that change.
#include <gtest/gtest.h>

#include <memory>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;

Numbers values(const Tensor& x) { return x.to_vector<float>(); }

class NnStepsOutside : public testing::Test {
 protected:
  void SetUp() override { nn::set_seed(6); }
  void TearDown() override {
    nn::set_seed(0);
    EXPECT_EQ(session_.context().memory().books.live, live_);
  }

  TestSession session_;
  const Tensor x_ = ops::random_normal({16, 4}, {.seed = 21});
  const Tensor y_ = ops::random_normal({16, 3}, {.seed = 22});
  const std::uint64_t live_ = session_.context().memory().books.live;
};

// Of two models that play against each other, each step sees the other's weights as they are.
TEST_F(NnStepsOutside, SeeASecondModelAsItIs) {
  std::vector<Numbers> ends;
  for (const bool recorded : {false, true}) {
    nn::set_seed(6);
    nn::Dense maker(4, 4), judge(4, 1);
    nn::Sgd makers(maker.weights(), {.learning_rate = 0.1});
    nn::Sgd judges(judge.weights(), {.learning_rate = 0.1});
    const nn::TrainingOptions options{.record = recorded, .exact = true};
    nn::TrainingStep make(
        maker, makers,
        [&](const Tensor& z) {
          return ops::neg(ops::mean(judge(maker(z)), {0, 1}));
        },
        options);
    nn::TrainingStep discern(
        judge, judges,
        [&](const Tensor& z, const Tensor& x) {
          return ops::mean(ops::square(judge(maker(z))), {0, 1}) +
                 ops::mean(ops::square(judge(x) - 1.0), {0, 1});
        },
        options);
    Numbers losses;
    for (int i = 0; i < 10; ++i) {
      losses.push_back(discern(x_, x_ * 2.0).item<float>());
      losses.push_back(make(x_).item<float>());
    }
    ends.push_back(losses);
  }
  ASSERT_EQ(ends[0].size(), ends[1].size());
  for (std::size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-4) << i;
}

TEST_F(NnStepsOutside, SeeATeacherThatIsReplaced) {
  for (const bool recorded : {false, true}) {
    nn::Dense net(4, 3);
    auto teacher = std::make_unique<nn::Dense>(4, 3);
    nn::Sgd sgd(net.weights(), {.learning_rate = 0});
    nn::TrainingStep step(
        net, sgd, [&](const Tensor& x) { return nn::mean_squared_error(net(x), (*teacher)(x)); },
        {.record = recorded});
    for (int i = 0; i < 2; ++i) static_cast<void>(step(x_));
    teacher = std::make_unique<nn::Dense>(4, 3);
    for (nn::Dense* each : {&net, teacher.get()}) {
      each->kernel.assign(nn::ones({4, 3}));
      each->bias.assign(nn::ones({3}));
    }
    EXPECT_EQ(step(x_).item<float>(), 0) << recorded;
  }
}

TEST_F(NnStepsOutside, AreRecordedWithoutTheStateOfTheirOptimizerNamed) {
  std::vector<Numbers> ends;
  for (const bool recorded : {false, true}) {
    nn::set_seed(6);
    nn::Dense net(4, 3);
    nn::Adam adam(net.weights());
    nn::TrainingStep step(
        net, adam,
        [&](const Tensor& x, const Tensor& y) { return nn::mean_squared_error(net(x), y); },
        {.record = false});
    const auto outer =
        record([&](const Tensor& x, const Tensor& y) { return step(x, y); }, {}, {.join = false});
    for (int i = 0; i < 6; ++i) static_cast<void>(recorded ? outer(x_, y_) : step(x_, y_));
    ends.push_back(values(net.kernel));
  }
  for (std::size_t i = 0; i < ends[0].size(); ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-5) << i;
}

TEST_F(NnStepsOutside, OfAnInputThatIsTheVariableThatIsTrained) {
  for (const bool recorded : {false, true}) {
    nn::Dense net(4, 4);
    Variable image(x_, "image");
    nn::Sgd sgd({&image});
    nn::TrainingStep by_input(net, sgd,
                              [&](const Tensor& x) {
                                return ops::mean(ops::square(net(x)), {0, 1});
                              },
                              {.record = recorded});
    EXPECT_ERROR(by_input(image), kInvalidArgument, "[nn::TrainingStep]", "none of the weights");
    nn::TrainingStep step(net, sgd,
                          [&](const Tensor&) {
                            return ops::mean(ops::square(net(image)), {0, 1});
                          },
                          {.record = recorded});
    const float first_loss = step(image).item<float>();
    for (int i = 0; i < 5; ++i) static_cast<void>(step(image));
    EXPECT_LT(step(image).item<float>(), first_loss) << recorded;
  }
}

TEST_F(NnStepsOutside, RefuseAnOptimizerOfWeightsThatTheLossDoesNotUse) {
  nn::Dense net(4, 3), other(4, 3);
  const auto loss_of = [](nn::Dense& model) {
    return [&](const Tensor& x, const Tensor& y) { return nn::mean_squared_error(model(x), y); };
  };
  nn::Sgd sgd(other.weights()), none(std::vector<Variable*>{});
  for (const bool recorded : {false, true}) {
    nn::TrainingStep step(net, sgd, loss_of(net), {.record = recorded});
    for (int i = 0; i < 2; ++i) {
      EXPECT_ERROR(step(x_, y_), kInvalidArgument, "[nn::TrainingStep]", "none of the weights");
    }
    nn::TrainingStep of_none(net, none, loss_of(net), {.record = recorded});
    for (int i = 0; i < 2; ++i) static_cast<void>(of_none(x_, y_));
  }
}

// ---- layers that change

TEST_F(NnStepsOutside, SeeTheModeOfALayerThatIsNoneOfTheModels) {
  for (const bool recorded : {false, true}) {
    nn::Dense net(4, 3);
    nn::Dropout dropout(0.5), unused(0.5);
    nn::Sgd sgd(net.weights(), {.learning_rate = 0});
    int runs = 0;
    nn::TrainingStep step(net, sgd,
                          [&](const Tensor& x, const Tensor& y) {
                            ++runs;
                            return nn::mean_squared_error(dropout(net(x)), y);
                          },
                          {.record = recorded});
    const float whole = step(x_, y_).item<float>();
    dropout.train();
    static_cast<void>(step(x_, y_));
    EXPECT_NE(step(x_, y_).item<float>(), whole) << recorded;
    EXPECT_EQ(runs, recorded ? 2 : 3);
    dropout.train(false);
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(step(x_, y_).item<float>(), whole, 1e-5) << recorded;
    dropout.train();
    dropout.train(false);
    unused.train();
    static_cast<void>(step(x_, y_));
    EXPECT_EQ(runs, recorded ? 3 : 6);
  }
}

TEST_F(NnStepsOutside, SeeAModeThatTheLossItselfChanges) {
  for (const bool recorded : {false, true}) {
    nn::BatchNorm norm(4);
    nn::Sgd sgd(norm.weights());
    nn::TrainingStep step(norm, sgd,
                          [&](const Tensor& x) {
                            const Tensor y = norm(x);
                            norm.train(false);
                            return ops::mean(ops::square(y), {0, 1});
                          },
                          {.record = recorded});
    norm.train();
    static_cast<void>(step(x_));
    const Numbers followed = values(norm.moving_mean);
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x_));
    EXPECT_EQ(values(norm.moving_mean), followed) << recorded;
  }
}

TEST_F(NnStepsOutside, SeeLayersThatAreAdded) {
  for (const bool recorded : {false, true}) {
    nn::Sequential net;
    net.add<nn::Dense>("dense", 4, 3);
    nn::Sgd sgd(net.weights(), {.learning_rate = 0});
    nn::TrainingStep step(net, sgd,
                          [&](const Tensor& x) {
                            return ops::mean(ops::square(net(x)), {0, 1});
                          },
                          {.record = recorded});
    const float before = step(x_).item<float>();
    net.add<nn::Function>("twice", [](const Tensor& x) { return x * 2.0; });
    for (int i = 0; i < 2; ++i) EXPECT_NEAR(step(x_).item<float>(), 4 * before, 1e-4) << recorded;
    auto made_before = std::make_unique<nn::Function>([](const Tensor& x) { return x * 0.0; });
    static_cast<void>(step(x_));
    net.add_layer("nothing", std::move(made_before));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(step(x_).item<float>(), 0) << recorded;
  }
}

}  // namespace
}  // namespace ebb::test
