// What a TrainingStep trains, what it sees of the model between steps, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;

Numbers values(const Tensor& x) { return x.to_vector<float>(); }

struct Net final : nn::Layer {
  nn::Dense body{4, 8, {.activation = ops::Activation::kSigmoid}};
  nn::BatchNorm norm{8};
  nn::Dense head{8, 3};
  int runs = 0;  // of its code: a replayed step does not run it

  Tensor operator()(const Tensor& x) override {
    ++runs;
    return head(norm(body(x)));
  }
  void parts(nn::Parts& parts) override {
    parts.layer("body", body);
    parts.layer("norm", norm);
    parts.layer("head", head);
  }
};

class NnSteps : public testing::Test {
 protected:
  void SetUp() override { nn::set_seed(6); }
  void TearDown() override {
    nn::set_seed(0);
    EXPECT_EQ(session_.context().memory().books.live, live_);
  }

  static nn::TrainingStep::Loss loss_of(Net& net) {
    return [&net](const Tensor& x, const Tensor& y) { return nn::mean_squared_error(net(x), y); };
  }

  TestSession session_;
  const Tensor x_ = ops::random_normal({16, 4}, {.seed = 21});
  const Tensor y_ = ops::random_normal({16, 3}, {.seed = 22});
  const std::uint64_t live_ = session_.context().memory().books.live;
};

TEST_F(NnSteps, SeeTheModeOfEachLayer) {
  for (const bool recorded : {false, true}) {
    Net net;
    net.train();
    nn::Sgd sgd(net.weights());
    nn::TrainingStep step(net, sgd, loss_of(net), {.record = recorded});
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x_, y_));
    net.norm.train(false);
    const Numbers before = values(net.norm.moving_mean);
    for (int i = 0; i < 3; ++i) static_cast<void>(step(x_, y_));
    EXPECT_EQ(values(net.norm.moving_mean), before) << recorded;
    net.norm.train();
    static_cast<void>(step(x_, y_));
    EXPECT_NE(values(net.norm.moving_mean), before) << recorded;
  }
}

TEST_F(NnSteps, AreNotRecordedAnewAfterAnEvaluation) {
  Net net;
  net.train();
  nn::Sgd sgd(net.weights());
  nn::TrainingStep step(net, sgd, loss_of(net));
  static_cast<void>(step(x_, y_));
  EXPECT_EQ(net.runs, 1);
  for (int i = 0; i < 3; ++i) {
    net.train(false);
    static_cast<void>(net(x_));
    net.train();
    static_cast<void>(step(x_, y_));
    EXPECT_EQ(net.runs, 2 + i);
  }
  net.norm.train(false);
  static_cast<void>(step(x_, y_));
  EXPECT_EQ(net.runs, 5);
}

TEST_F(NnSteps, ChangesOfLayersAreCounted) {
  Net net;
  const std::uint64_t before = nn::Layer::changes();
  net.train(false);
  EXPECT_EQ(nn::Layer::changes(), before);
  net.train();
  EXPECT_EQ(nn::Layer::changes(), before + 4);
  net.head.train(false);
  EXPECT_EQ(nn::Layer::changes(), before + 5);
  EXPECT_EQ(net.layers(), (std::vector<nn::Layer*>{&net, &net.body, &net.norm, &net.head}));
  std::vector<bool> modes;
  for (nn::Layer* each : net.layers()) modes.push_back(each->training());
  EXPECT_EQ(modes, (std::vector<bool>{true, true, true, false}));
}

// ---- what is trained

TEST_F(NnSteps, TrainWhatTheOptimizerHas) {
  std::vector<Numbers> heads;
  for (const bool recorded : {false, true}) {
    nn::set_seed(6);
    Net net;
    net.train();
    nn::Adam adam(net.head.weights());
    nn::TrainingStep step(net, adam, loss_of(net), {.record = recorded, .exact = true});
    const Numbers body = values(net.body.kernel), head = values(net.head.kernel);
    const float first = step(x_, y_).item<float>();
    for (int i = 0; i < 10; ++i) static_cast<void>(step(x_, y_));
    EXPECT_LT(step(x_, y_).item<float>(), first) << recorded;
    EXPECT_EQ(values(net.body.kernel), body) << recorded;
    EXPECT_NE(values(net.head.kernel), head) << recorded;
    // What is frozen is seen as it is, not as it was.
    net.body.kernel.assign(nn::zeros({4, 8}));
    net.body.bias.assign(nn::zeros({8}));
    net.norm.beta.assign(nn::zeros({8}));
    net.head.bias.assign(nn::zeros({3}));
    EXPECT_NEAR(step(x_, y_).item<float>(),
                nn::mean_squared_error(nn::zeros({16, 3}), y_).item<float>(), 1e-3);
    heads.push_back(values(net.head.kernel));
  }
  if (session_.device().link() == nullptr) {
    EXPECT_EQ(heads[0], heads[1]);
  }
}

TEST_F(NnSteps, TrainVariablesThatAreNotTheModels) {
  for (const bool recorded : {false, true}) {
    Net net;
    Variable scale(nn::ones({}), "scale");
    nn::Sgd sgd({&scale});
    nn::TrainingStep step(net, sgd,
                          [&](const Tensor& x, const Tensor& y) {
                            return nn::mean_squared_error(ops::multiply(net(x), scale), y);
                          },
                          {.record = recorded});
    const Numbers body = values(net.body.kernel);
    float last = 1;
    for (int i = 0; i < 4; ++i) {
      static_cast<void>(step(x_, y_));
      EXPECT_NE(scale.value().item<float>(), last) << recorded << " " << i;
      last = scale.value().item<float>();
    }
    EXPECT_EQ(values(net.body.kernel), body);
  }
}

// ---- the seed

// Whether each number of a step's input got through its dropout.
class Dropped {
 public:
  Dropped(std::int64_t count, double rate, bool recorded)
      : x_(nn::ones({count})), dropout_(rate), step_(dropout_, sgd_, loss(), {.record = recorded}) {
    dropout_.train();
  }
  // By the gradient that the update takes off the weight of each number.
  std::vector<bool> next() {
    weight_.assign(nn::zeros({x_.shape().dims()[0]}));
    static_cast<void>(step_(x_));
    std::vector<bool> kept;
    for (const float each : values(weight_)) kept.push_back(each != 0);
    return kept;
  }

 private:
  nn::TrainingStep::Loss loss() {
    return [this](const Tensor& x, const Tensor&) {
      return ops::sum(dropout_(ops::multiply(x, weight_)), {0});
    };
  }

  const Tensor x_;
  Variable weight_{nn::zeros({x_.shape().dims()[0]}), "weight"};
  nn::Dropout dropout_;
  nn::Sgd sgd_{{&weight_}};
  nn::TrainingStep step_;
};

double share_of(const std::vector<bool>& some) {
  return static_cast<double>(std::ranges::count(some, true)) / static_cast<double>(some.size());
}

TEST_F(NnSteps, DropTheSameAfterTheSameSeed) {
  std::vector<std::vector<bool>> first;
  for (const bool recorded : {false, true, true}) {
    nn::set_seed(41);
    Dropped dropped(1000, 0.3, recorded);
    std::vector<std::vector<bool>> all;
    for (int i = 0; i < 6; ++i) all.push_back(dropped.next());
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_NE(all[i], all[i - 1]);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << recorded;
  }
  nn::set_seed(42);
  EXPECT_NE(Dropped(1000, 0.3, true).next(), first[0]);
}

TEST_F(NnSteps, DropOtherwiseWithoutASeedAndFollowWhereItChanges) {
  nn::set_seed(0);
  Dropped one(1000, 0.3, true), other(1000, 0.3, true);
  static_cast<void>(one.next());
  EXPECT_NE(one.next(), one.next());
  EXPECT_NE(one.next(), other.next());
  nn::set_seed(41);
  const std::vector<bool> seeded = one.next();
  nn::set_seed(41);
  EXPECT_EQ(one.next(), seeded);
  nn::set_seed(0);
  EXPECT_NE(one.next(), one.next());
}

// Independent of each other, of their neighbours and of the same places in other steps.
TEST_F(NnSteps, DropSeededAsIfByChance) {
  constexpr std::size_t kCount = 100000;
  constexpr double kNear = 0.01;  // six deviations
  for (const double rate : {0.1, 0.5, 0.9}) {
    nn::set_seed(7);
    Dropped dropped(kCount, rate, true);
    std::vector<bool> before = dropped.next();
    for (int step = 0; step < 4; ++step) {
      const std::vector<bool> now = dropped.next();
      EXPECT_NEAR(share_of(now), 1 - rate, kNear);
      for (const std::size_t apart : {0UL, 1UL, 2UL, 64UL, 1024UL, 65536UL}) {
        const std::vector<bool>& others = apart == 0 ? before : now;
        std::vector<bool> both;
        for (std::size_t i = 0; i < kCount; ++i) {
          both.push_back(now[i] && others[(i + apart) % kCount]);
        }
        EXPECT_NEAR(share_of(both), (1 - rate) * (1 - rate), kNear) << rate << " " << apart;
      }
      before = now;
    }
  }
}

TEST_F(NnSteps, LayersDropEachOnTheirOwn) {
  nn::Dropout a(0.5), b(0.5);
  a.train();
  b.train();
  Variable weight(nn::zeros({2, 1000}), "weight");
  nn::Sgd sgd({&weight});
  nn::TrainingStep step(a, sgd, [&](const Tensor& x) {
    const Tensor product = ops::multiply(x, weight);
    const Tensor rows = ops::concat(
        {a(ops::slice(product, {0, 0}, {1, 1000})), b(ops::slice(product, {1, 0}, {1, 1000}))});
    return ops::sum(ops::reshape(rows, {-1}), {0});
  });
  static_cast<void>(step(nn::ones({2, 1000})));
  const Numbers all = values(weight);
  EXPECT_NE(Numbers(all.begin(), all.begin() + 1000), Numbers(all.begin() + 1000, all.end()));
}

TEST_F(NnSteps, DropTheSameWhereNothingIsReplayed) {
  nn::Dropout dropout(0.5);
  dropout.train();
  const auto drop = [&] { return values(dropout(nn::ones({100}))); };
  nn::set_seed(7);
  const Numbers first = drop();
  EXPECT_NE(drop(), first);
  nn::set_seed(7);
  EXPECT_EQ(drop(), first);
  const Tensor x = nn::ones({100});
  const auto by_gradient = [&] {
    nn::set_seed(7);
    return values(grad([&](const Tensor& y) { return dropout(y); })(x));
  };
  EXPECT_EQ(by_gradient(), first) << "a tape is open";
  EXPECT_EQ(by_gradient(), first);
  nn::set_seed(7);
  auto recorded = record([&](const Tensor& y) { return dropout(y); });
  const Numbers once = values(recorded(x));
  EXPECT_NE(values(recorded(x)), once);
  EXPECT_NE(values(recorded(x)), values(recorded(x)));
}

// A step that is part of a recorded function has no seed of its own: it would be the same in each call.
TEST_F(NnSteps, DropOtherwiseInARecordedFunction) {
  for (const bool recorded : {false, true}) {
    nn::set_seed(41);
    nn::Dropout dropout(0.5);
    dropout.train();
    Variable weight(nn::ones({1000}), "weight");
    nn::Sgd sgd({&weight}, {.learning_rate = 0});
    nn::TrainingStep step(dropout, sgd,
                          [&](const Tensor& x) { return ops::sum(dropout(x * weight), {0}); },
                          {.record = recorded});
    const Tensor x = ops::random_normal({1000}, {.seed = 4});
    const auto outer = record([&](const Tensor& given) { return step(given); }, {&weight});
    for (int round = 0; round < 2; ++round) {
      Numbers losses;
      for (int i = 0; i < 4; ++i) losses.push_back(outer(x).item<float>());
      for (int i = 0; i < 3; ++i) losses.push_back(step(x).item<float>());
      std::ranges::sort(losses);
      EXPECT_EQ(std::ranges::adjacent_find(losses), losses.end()) << recorded;
    }
  }
}

// ---- with and without labels

TEST_F(NnSteps, OfALossWithoutLabels) {
  std::vector<Numbers> ends;
  for (const bool recorded : {false, true}) {
    for (const bool takes_labels : {false, true}) {
      nn::set_seed(6);
      nn::Dense net(4, 4);
      nn::Sgd sgd(net.weights());
      const auto of_inputs = [&](const Tensor& x) { return nn::mean_squared_error(net(x), x); };
      const auto of_both = [&](const Tensor& x, const Tensor& y) {
        EXPECT_FALSE(y);
        return of_inputs(x);
      };
      const nn::TrainingOptions options{.record = recorded, .exact = true};
      nn::TrainingStep step = takes_labels ? nn::TrainingStep(net, sgd, of_both, options)
                                           : nn::TrainingStep(net, sgd, of_inputs, options);
      const float first = step(x_).item<float>();
      for (int i = 0; i < 8; ++i) static_cast<void>(step(x_));
      EXPECT_LT(step(x_, Tensor()).item<float>(), first);
      ends.push_back(values(net.kernel));
    }
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[2], ends[3]);
  if (session_.device().link() == nullptr) {
    EXPECT_EQ(ends[0], ends[2]);
  }
}

TEST_F(NnSteps, RefuseLabelsThatNobodyTakesAndNoInputs) {
  nn::Dense net(4, 4);
  nn::Sgd sgd(net.weights());
  for (const bool recorded : {false, true}) {
    nn::TrainingStep step(net, sgd,
                          [&](const Tensor& x) { return nn::mean_squared_error(net(x), x); },
                          {.record = recorded});
    EXPECT_ERROR(static_cast<void>(step(x_, y_)), kInvalidArgument, "[nn::TrainingStep]", "labels");
    EXPECT_ERROR(static_cast<void>(step(Tensor())), kInvalidArgument, "[nn::TrainingStep]",
                 "inputs");
    static_cast<void>(step(x_));
    EXPECT_ERROR(static_cast<void>(step(Tensor(), y_)), kInvalidArgument, "[nn::TrainingStep]",
                 "inputs");
    static_cast<void>(step(x_));
  }
}

// ---- what is no loss

TEST_F(NnSteps, RefuseALossThatIsNoFloatScalar) {
  for (const bool recorded : {false, true}) {
    Net net;
    nn::Sgd sgd(net.weights());
    const Numbers before = values(net.head.kernel);
    const auto refuses = [&](const std::function<Tensor()>& made, const std::string& given) {
      nn::TrainingStep step(net, sgd, [&](const Tensor&, const Tensor&) { return made(); },
                            {.record = recorded});
      for (int i = 0; i < 2; ++i) {
        EXPECT_ERROR(static_cast<void>(step(x_, y_)), kInvalidArgument, "[nn::TrainingStep]", given,
                     "float scalar");
      }
    };
    refuses([&] { return net(x_); }, "float32 of shape [16,3]");
    refuses([&] { return ops::sum(net(x_), {0}); }, "float32 of shape [3]");
    refuses([&] { return ops::reshape(nn::mean_squared_error(net(x_), y_), {1}); }, "shape [1]");
    refuses([&] { return ops::cast(nn::mean_squared_error(net(x_), y_), DType::kInt32); }, "int32");
    refuses([] { return Tensor(); }, "no tensor");
    EXPECT_EQ(values(net.head.kernel), before);
  }
}

TEST_F(NnSteps, RefuseNoLoss) {
  Net net;
  nn::Sgd sgd(net.weights());
  EXPECT_ERROR(nn::TrainingStep(net, sgd, nullptr), kInvalidArgument, "[nn::TrainingStep]", "loss");
  EXPECT_ERROR(nn::TrainingStep(net, sgd, nn::TrainingStep::Loss()), kInvalidArgument, "loss");
  EXPECT_ERROR(nn::TrainingStep(net, sgd, std::function<Tensor(const Tensor&)>()), kInvalidArgument,
               "loss");
}

}  // namespace
}  // namespace ebb::test
