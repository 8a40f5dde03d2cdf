// Recorded training steps that are asked for the numbers of steps that are not recorded.
#include <gtest/gtest.h>

#include "ebb/ebb.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

std::vector<std::vector<float>> trained(const nn::TrainingOptions& options) {
  nn::set_seed(4);
  nn::Sequential net;
  net.add<nn::Dense>("hidden", 784, 128, nn::DenseOptions{.activation = ops::Activation::kRelu});
  net.add<nn::Dense>("out", 128, 10);
  net.train();
  nn::Adam adam(net.weights());
  nn::TrainingStep step(
      net, adam,
      [&](const Tensor& x, const Tensor& y) { return nn::softmax_cross_entropy(net(x), y); },
      options);
  const Tensor x = ops::random_uniform({32, 784}, {.seed = 1});
  const Tensor y = ops::cast(ops::random_uniform({32}, {.high = 10, .seed = 2}), DType::kInt32);
  std::vector<std::vector<float>> all;
  for (int i = 0; i < 24; ++i) all.push_back(step(x, y).to_vector<float>());
  for (Variable* each : net.weights()) all.push_back(each->value().to_vector<float>());
  return all;
}

TEST(NnExact, RecordedStepsHaveTheBitsOfThoseThatAreNot) {
  TestSession session;
  if (session.device().link() != nullptr) GTEST_SKIP() << "sums of a GPU come in any order";
  EXPECT_EQ(trained({.exact = true}), trained({.record = false}));
}

}  // namespace
}  // namespace ebb::test
