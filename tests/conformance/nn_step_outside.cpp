// What a TrainingStep sees of what it was not made with: other models, its input's variable, layers that change.
#include <gtest/gtest.h>

#include <memory>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
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

}  // namespace
}  // namespace ebb::test
