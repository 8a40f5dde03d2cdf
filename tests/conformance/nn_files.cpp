// Files of ebb/nn: what they name that does not fit, and training that goes on from one.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Numbers = std::vector<float>;
using Optimizers = std::vector<std::unique_ptr<nn::Optimizer>>;

struct Net final : nn::Layer {
  nn::Dense body{4, 8, {.activation = ops::Activation::kSigmoid}};
  nn::BatchNorm norm{8};
  nn::Dense head{8, 3};

  Tensor operator()(const Tensor& x) override { return head(norm(body(x))); }
  void parts(nn::Parts& parts) override {
    parts.layer("body", body);
    parts.layer("norm", norm);
    parts.layer("head", head);
  }
};

class NnCheckpoints : public testing::Test {
 protected:
  void SetUp() override {
    nn::set_seed(8);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    nn::set_seed(0);
    std::filesystem::remove_all(folder_);
    EXPECT_EQ(session_.context().memory().books.live, live_);
  }

  static Optimizers optimizers_of(const std::vector<Variable*>& weights) {
    Optimizers all;
    all.push_back(std::make_unique<nn::Sgd>(weights));
    all.push_back(std::make_unique<nn::Momentum>(weights));
    all.push_back(std::make_unique<nn::Adam>(weights));
    all.push_back(std::make_unique<nn::Adagrad>(weights));
    all.push_back(std::make_unique<nn::Adadelta>(weights));
    all.push_back(std::make_unique<nn::Adamax>(weights, nn::AdamaxOptions{.decay = 0.1}));
    all.push_back(std::make_unique<nn::RmsProp>(weights, nn::RmsPropOptions{.momentum = 0.5}));
    all.push_back(std::make_unique<nn::RmsProp>(weights, nn::RmsPropOptions{.centered = true}));
    return all;
  }
  // Weights, states, what the optimizer keeps.
  static std::vector<Numbers> all_of(nn::Layer& net, nn::Optimizer& optimizer) {
    std::vector<Numbers> all;
    for (Variable* each : net.variables()) all.push_back(each->value().to_vector<float>());
    for (Variable* each : optimizer.variables()) all.push_back(each->value().to_vector<float>());
    all.push_back({static_cast<float>(optimizer.learning_rate())});
    return all;
  }
  void train(Net& net, nn::Optimizer& optimizer, int steps, bool recorded) {
    net.train();
    nn::TrainingStep step(
        net, optimizer,
        [&](const Tensor& x, const Tensor& y) { return nn::mean_squared_error(net(x), y); },
        {.record = recorded, .exact = true});
    for (int i = 0; i < steps; ++i) static_cast<void>(step(x_, y_));
  }
  // Writes the file with something else in it.
  void forge(const std::function<void(io::SafeTensors&)>& change) {
    io::SafeTensors content = io::load_safetensors(path_);
    change(content);
    io::save_safetensors(path_, content);
  }

  TestSession session_;
  const Tensor x_ = ops::random_normal({16, 4}, {.seed = 21});
  const Tensor y_ = ops::random_normal({16, 3}, {.seed = 22});
  const std::uint64_t live_ = session_.context().memory().books.live;
  const std::filesystem::path folder_ = testing::TempDir() + "ebb_nn_checkpoints";
  const std::filesystem::path path_ = folder_ / "checkpoint.safetensors";
};

TEST_F(NnCheckpoints, TrainingGoesOnAsIfItHadNotStopped) {
  if (session_.device().link() != nullptr) GTEST_SKIP() << "sums of a GPU come in any order";
  for (std::size_t which = 0; which < 8; ++which) {
    for (const bool recorded : {false, true}) {
      Net first, second;
      // The body's biases have gradients of 0, which centered RMSProp makes NaN.
      const bool of_head = which == 7;
      const Optimizers of_first = optimizers_of(of_head ? first.head.weights() : first.weights());
      const Optimizers of_second =
          optimizers_of(of_head ? second.head.weights() : second.weights());
      of_first[which]->set_learning_rate(0.0123);
      train(first, *of_first[which], 3, recorded);
      nn::save(path_, first, *of_first[which], {{"epoch", "3"}});
      EXPECT_EQ(nn::load(path_, second, *of_second[which]).at("epoch"), "3");
      EXPECT_EQ(all_of(second, *of_second[which]), all_of(first, *of_first[which])) << which;
      train(first, *of_first[which], 4, recorded);
      train(second, *of_second[which], 4, recorded);
      EXPECT_EQ(all_of(second, *of_second[which]), all_of(first, *of_first[which])) << which;
    }
  }
}

TEST_F(NnCheckpoints, ANewOptimizerGoesOnOtherwise) {
  Net first, second;
  nn::Adam of_first(first.weights()), of_second(second.weights());
  train(first, of_first, 3, true);
  nn::save(path_, first, of_first);
  static_cast<void>(nn::load(path_, second));  // the model alone
  train(first, of_first, 1, false);
  train(second, of_second, 1, false);
  EXPECT_NE(all_of(second, of_second), all_of(first, of_first));
}

TEST_F(NnCheckpoints, AStepThatIsRecordedGoesOnWithWhatWasLoaded) {
  Net net;
  net.train();
  nn::Adam adam(net.weights());
  nn::TrainingStep step(net, adam, [&](const Tensor& x, const Tensor& y) {
    return nn::mean_squared_error(net(x), y);
  });
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x_, y_));
  nn::save(path_, net, adam);
  std::vector<Numbers> losses(2);
  for (Numbers& each : losses) {
    for (int i = 0; i < 4; ++i) each.push_back(step(x_, y_).item<float>());
    static_cast<void>(nn::load(path_, net, adam));
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(losses[0][i], losses[1][i], 1e-5);
}

TEST_F(NnCheckpoints, OfAFrozenBodyNameTheHeadAlone) {
  Net net;
  nn::Adam adam(net.head.weights());
  std::string names;
  for (const nn::NamedVariable& each : adam.named_variables(net)) names += each.name + " ";
  EXPECT_EQ(names,
            "beta1_power beta2_power first_moment/head/kernel second_moment/head/kernel "
            "first_moment/head/bias second_moment/head/bias ");
  nn::save(path_, net, adam);
  static_cast<void>(nn::load(path_, net, adam));
  EXPECT_ERROR(nn::save(path_, net.body, adam), kInvalidArgument, "[nn::Optimizer]", "\"kernel\"",
               "none of the model's");
}

TEST_F(NnCheckpoints, OfTiedWeightsHaveThemOnce) {
  struct Tied final : nn::Layer {
    nn::Dense dense{4, 4};
    Tensor operator()(const Tensor& x) override { return dense(ops::tanh(dense(x))); }
    void parts(nn::Parts& parts) override {
      parts.layer("a", dense);
      parts.layer("b", dense);
    }
  } net, other;
  nn::Adam adam(net.weights()), of_other(other.weights());
  const auto step = [&] {
    adam.apply(value_and_grad(
                   [&] {
                     return ops::mean(ops::square(net(x_)), {0, 1});
                   },
                   net.weights())()
                   .gradients);
  };
  step();
  nn::save(path_, net, adam);
  static_cast<void>(nn::load(path_, other, of_other));
  EXPECT_EQ(all_of(other, of_other), all_of(net, adam));
  const io::SafeTensors content = io::load_safetensors(path_);
  EXPECT_EQ(content.tensors.size(), 2u + 4u + 2u + 1u);
}

TEST_F(NnCheckpoints, NameWhatIsMissingAndWhatIsTooMuch) {
  Net net;
  nn::save(path_, net);
  forge([](io::SafeTensors& content) {
    content.tensors.emplace_back("surplus/kernel", nn::ones({1}));
  });
  EXPECT_ERROR(nn::load(path_, net), kInvalidArgument, "[nn::load]", "\"surplus/kernel\"",
               "in the file");
  nn::save(path_, net);
  forge([](io::SafeTensors& content) {
    std::erase_if(content.tensors, [](const auto& each) { return each.first == "norm/beta"; });
  });
  EXPECT_ERROR(nn::load(path_, net), kInvalidArgument, "[nn::load]", "\"norm/beta\"",
               "not in the file");
}

TEST_F(NnCheckpoints, LeaveAllAsItWasWhereTheyDoNotFit) {
  Net net;
  nn::Adam adam(net.weights());
  train(net, adam, 2, false);
  nn::save(path_, net, adam);
  Net other;
  nn::Adam fresh(other.weights());
  const auto before = all_of(other, fresh);
  const auto refuses = [&](const std::string& part,
                           const std::function<void(io::SafeTensors&)>& change) {
    nn::save(path_, net, adam);
    forge(change);
    EXPECT_ERROR(nn::load(path_, other, fresh), kInvalidArgument, part);
    EXPECT_EQ(all_of(other, fresh), before) << part;
  };
  const auto without = [](const std::string& name) {
    return [name](io::SafeTensors& content) {
      std::erase_if(content.tensors, [&](const auto& each) { return each.first == name; });
    };
  };
  const auto with = [](const std::string& name, const Tensor& value) {
    return [name, value](io::SafeTensors& content) {
      std::erase_if(content.tensors, [&](const auto& each) { return each.first == name; });
      content.tensors.emplace_back(name, value);
    };
  };
  for (const std::string name : {"optimizer/learning_rate", "optimizer/beta2_power",
                                 "optimizer/second_moment/head/bias", "head/bias"}) {
    refuses("\"" + name + "\"", without(name));
    refuses("\"" + name + "\"", with(name, nn::ones({2, 2})));
  }
  refuses("\"optimizer/norm/head/bias\"", with("optimizer/norm/head/bias", nn::ones({3})));
  refuses("learning rate",
          with("optimizer/learning_rate", ops::fill({}, std::nan(""), DType::kFloat64)));
  nn::save(path_, net, adam);
  nn::Adamax otherwise(other.weights());
  EXPECT_ERROR(nn::load(path_, other, otherwise), kInvalidArgument, "\"optimizer/iteration\"");
  nn::save(path_, net);
  EXPECT_ERROR(nn::load(path_, other, fresh), kInvalidArgument, "\"optimizer/");
  EXPECT_EQ(all_of(other, fresh), before);
}

TEST_F(NnCheckpoints, CutShortAtAnyByteAreRefused) {
  nn::Dense net(2, 2);
  nn::Momentum momentum(net.weights());
  nn::save(path_, net, momentum);
  const auto size = std::filesystem::file_size(path_);
  const auto before = all_of(net, momentum);
  for (std::uintmax_t left = size; left-- > 0;) {
    std::filesystem::resize_file(path_, left);
    EXPECT_ERROR(nn::load(path_, net, momentum), kInvalidArgument, "[safetensors]");
  }
  EXPECT_EQ(all_of(net, momentum), before);
}

}  // namespace
}  // namespace ebb::test
