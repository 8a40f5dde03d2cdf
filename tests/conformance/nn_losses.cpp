// Losses of ebb/nn against formulas in double: values, gradients, and gradients of gradients, also
// where a loss bends and far out.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Loss = std::function<Tensor(const Tensor&)>;

class NnLosses : public testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(session_.context().memory().books.live, 0u); }

  static float slope_of(const Loss& loss, const Tensor& x) { return grad(loss)(x).item<float>(); }
  static float bend_of(const Loss& loss, const Tensor& x) {
    return grad([&](const Tensor& at) { return ops::sum(grad(loss)(at), {0}); })(x).item<float>();
  }

  TestSession session_;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

TEST_F(NnLosses, SigmoidCrossEntropyIsSmooth) {
  for (const float z : {0.0f, 0.25f, 0.5f, 1.0f}) {
    const Tensor target = tensor({z}, {1});
    const Loss loss = [&](const Tensor& x) { return nn::sigmoid_cross_entropy(x, target); };
    for (const float x : {-90.0f, -30.0f, -13.9f, -2.0f, -1e-3f, 0.0f, 1e-3f, 2.0f, 13.9f, 30.0f}) {
      const Tensor at = tensor({x}, {1});
      EXPECT_NEAR(slope_of(loss, at), sigmoid(x) - z, 1e-6) << x << " " << z;
      EXPECT_NEAR(bend_of(loss, at), sigmoid(x) * sigmoid(-x), 1e-6) << x << " " << z;
    }
  }
}

TEST_F(NnLosses, SigmoidCrossEntropyKeepsItsDigitsFarOut) {
  for (const float z : {0.0f, 0.3f, 1.0f}) {
    for (float x = -80; x <= 80; x += 0.37f) {
      const double expected = z * softplus(-x) + (1 - double{z}) * softplus(x);
      const Tensor made = nn::sigmoid_cross_entropy(tensor({x}, {1}), tensor({z}, {1}));
      EXPECT_NEAR(made.item<float>(), expected, 1e-6 * expected) << x << " " << z;
    }
  }
}

TEST_F(NnLosses, SigmoidCrossEntropyByTargets) {
  const Tensor x = tensor({1.5f}, {1});
  const Loss loss = [&](const Tensor& z) { return nn::sigmoid_cross_entropy(x, z); };
  EXPECT_NEAR(slope_of(loss, tensor({0.5f}, {1})), -1.5, 1e-6);
}

TEST_F(NnLosses, HuberLossIsASquareNearZero) {
  constexpr double kDelta = 1.5;
  const Tensor zero = tensor({0.0f}, {1});
  const Loss loss = [&](const Tensor& x) { return nn::huber_loss(x, zero, kDelta); };
  for (const float e : {-1e6f, -2.0f, -1.0f, -1e-3f, 0.0f, 1e-3f, 1.0f, 2.0f, 1e6f}) {
    const Tensor at = tensor({e}, {1});
    const bool is_near = std::abs(e) < kDelta;
    const double far = kDelta * (std::abs(double{e}) - kDelta / 2);
    const double expected = is_near ? double{e} * e / 2 : far;
    EXPECT_NEAR(loss(at).item<float>(), expected, 1e-6 * expected) << e;
    EXPECT_NEAR(slope_of(loss, at), std::clamp<double>(e, -kDelta, kDelta), 1e-6) << e;
    EXPECT_EQ(bend_of(loss, at), is_near ? 1 : 0) << e;
  }
  for (const double delta : {0.0, -1.0, std::nan("")}) {
    EXPECT_ERROR(static_cast<void>(nn::huber_loss(zero, zero, delta)), kInvalidArgument,
                 "[nn::huber_loss]", "delta");
  }
}

TEST_F(NnLosses, OfDifferencesBendAsTheyShould) {
  const Tensor zero = tensor({0.0f}, {1});
  const Loss squared = [&](const Tensor& x) { return nn::mean_squared_error(x, zero); };
  const Loss absolute = [&](const Tensor& x) { return nn::mean_absolute_error(x, zero); };
  for (const float e : {-2.0f, 0.0f, 3.0f}) {
    const Tensor at = tensor({e}, {1});
    EXPECT_EQ(slope_of(squared, at), 2 * e);
    EXPECT_EQ(bend_of(squared, at), 2);
    EXPECT_EQ(slope_of(absolute, at), e > 0 ? 1 : e < 0 ? -1 : 0);
    EXPECT_EQ(bend_of(absolute, at), 0);
  }
}

TEST_F(NnLosses, SoftmaxCrossEntropyBendsAsItShould) {
  const std::vector<float> logits{0.5f, 0.5f, -30.0f};
  const Tensor label = tensor({1}, {1}), shares = tensor({0.0f, 1.0f, 0.0f}, {1, 3});
  for (const Tensor& labels : {label, shares}) {
    const Loss loss = [&](const Tensor& x) { return nn::softmax_cross_entropy(x, labels); };
    // Of the slope by the second class: p (1 - p) there, -p of one times p of the other elsewhere.
    const Loss second = [&](const Tensor& x) {
      return ops::sum(ops::reshape(grad(loss)(x), {-1}) * tensor({0.0f, 1.0f, 0.0f}, {3}), {0});
    };
    const Tensor at = tensor(logits, {1, 3});
    const auto slopes = grad(loss)(at).to_vector<float>();
    EXPECT_NEAR(slopes[0], 0.5, 1e-6);
    EXPECT_NEAR(slopes[1], -0.5, 1e-6);
    EXPECT_NEAR(slopes[2], 0, 1e-6);
    const auto bends = grad(second)(at).to_vector<float>();
    EXPECT_NEAR(bends[0], -0.25, 1e-6);
    EXPECT_NEAR(bends[1], 0.25, 1e-6);
    EXPECT_NEAR(bends[2], 0, 1e-6);
  }
}

// ---- labels as numbers

TEST_F(NnLosses, LabelsOfAnyIntegersAndRanks) {
  const Tensor logits = ops::random_normal({2, 3, 4}, {.seed = 3});
  const Tensor labels = tensor({0, 3, 1, 2, 2, 0}, {2, 3});
  const Tensor shares = ops::one_hot(labels, 4, {.dtype = DType::kFloat32});
  const Loss by_shares = [&](const Tensor& x) { return nn::softmax_cross_entropy(x, shares); };
  for (const DType dtype : {DType::kInt32, DType::kInt64, DType::kUint8, DType::kInt8}) {
    const Tensor numbers = ops::cast(labels, dtype);
    const Loss by_numbers = [&](const Tensor& x) { return nn::softmax_cross_entropy(x, numbers); };
    EXPECT_NEAR(by_numbers(logits).item<float>(), by_shares(logits).item<float>(), 1e-6);
    const auto a = grad(by_numbers)(logits).to_vector<float>();
    const auto b = grad(by_shares)(logits).to_vector<float>();
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
    EXPECT_EQ(nn::accuracy(logits, numbers).item<float>(),
              nn::accuracy(logits, shares).item<float>());
  }
  const Tensor row = tensor({0.0f, 0.0f}, {2});
  EXPECT_NEAR(nn::softmax_cross_entropy(row, scalar(1)).item<float>(), std::log(2), 1e-6);
  EXPECT_ERROR(nn::softmax_cross_entropy(logits, tensor({0, 1}, {2})), kInvalidArgument,
               "[nn::softmax_cross_entropy]", "[2,3,4]", "[2]");
  EXPECT_ERROR(nn::accuracy(logits, tensor({0, 1}, {2})), kInvalidArgument, "[nn::accuracy]",
               "[2,3,4]", "[2]");
}

TEST_F(NnLosses, LabelsThatAreNoClassAreRefused) {
  if (session_.device().link() != nullptr) GTEST_SKIP() << "a GPU would have to wait for that";
  const Tensor logits = tensor({1.0f, 2.0f, 3.0f}, {1, 3});
  for (const int label : {7, 3, -1}) {
    const Tensor labels = tensor({label}, {1});
    EXPECT_ERROR(nn::softmax_cross_entropy(logits, labels), kInvalidArgument, std::to_string(label),
                 "[0, 2]");
    EXPECT_EQ(nn::accuracy(logits, labels).item<float>(), 0);
  }
}

// As int32 they would be class 0, 1 and 2.
TEST_F(NnLosses, LabelsBeyondInt32AreNoClass) {
  constexpr std::int64_t kBeyond = std::int64_t{1} << 32;
  const Tensor logits = tensor({1.0f, 2.0f, 3.0f}, {1, 3});
  for (const std::int64_t label : {kBeyond, kBeyond + 1, kBeyond + 2, -kBeyond, 2 - kBeyond,
                                   std::numeric_limits<std::int64_t>::min()}) {
    const Tensor labels = tensor({label}, {1});
    EXPECT_EQ(nn::accuracy(logits, labels).item<float>(), 0) << label;
    if (session_.device().link() != nullptr) {  // its row counts as 0
      EXPECT_EQ(nn::softmax_cross_entropy(logits, labels).item<float>(), 0) << label;
    } else {
      EXPECT_ERROR(nn::softmax_cross_entropy(logits, labels), kInvalidArgument, "[0, 2]");
    }
  }
}

TEST_F(NnLosses, LabelsThatAreNoClassAreRefusedInARecordedStep) {
  if (session_.device().link() != nullptr) GTEST_SKIP() << "a GPU would have to wait for that";
  nn::Dense net(2, 3);
  nn::Sgd sgd(net.weights());
  nn::TrainingStep step(net, sgd, [&](const Tensor& x, const Tensor& y) {
    return nn::softmax_cross_entropy(net(x), y);
  });
  const Tensor x = nn::ones({2, 2}), y = tensor({0, 2}, {2});
  for (int i = 0; i < 3; ++i) static_cast<void>(step(x, y));
  const auto before = net.kernel.value().to_vector<float>();
  EXPECT_ERROR(step(x, tensor({0, 3}, {2})), kInvalidArgument, "3", "[0, 2]");
  EXPECT_EQ(net.kernel.value().to_vector<float>(), before);
  static_cast<void>(step(x, y));
  EXPECT_NE(net.kernel.value().to_vector<float>(), before);
}

TEST_F(NnLosses, LogitsOfClassesThatCannotBe) {
  if (session_.device().link() != nullptr) GTEST_SKIP() << "a product with 0 there";
  const float none = -std::numeric_limits<float>::infinity();
  const Tensor logits = tensor({none, 0.0f, 0.0f}, {1, 3}), label = tensor({1}, {1});
  const Loss loss = [&](const Tensor& x) { return nn::softmax_cross_entropy(x, label); };
  EXPECT_NEAR(loss(logits).item<float>(), std::log(2), 1e-6);
  const auto slopes = grad(loss)(logits).to_vector<float>();
  EXPECT_EQ(slopes[0], 0);
  EXPECT_NEAR(slopes[1], -0.5, 1e-6);
  EXPECT_NEAR(slopes[2], 0.5, 1e-6);
  const Tensor impossible = tensor({0}, {1});
  EXPECT_EQ(nn::softmax_cross_entropy(logits, impossible).item<float>(), -none);
}

}  // namespace
}  // namespace ebb::test
