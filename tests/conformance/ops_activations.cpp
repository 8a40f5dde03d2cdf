// What fused operations do to their results is what the operations of the same names do, wherever the numbers lie.
#include <cmath>
#include <limits>

#include "conformance/program_case.hpp"

namespace ebb::test {
namespace {

struct Named {
  const char* name;
  ops::Activation activation;
  std::function<Tensor(const Tensor&)> alone;
};

const Named kActivations[] = {
    {"relu", ops::Activation::kRelu, [](const Tensor& x) { return ops::relu(x); }},
    {"relu6", ops::Activation::kRelu6, [](const Tensor& x) { return ops::relu6(x); }},
    {"elu", ops::Activation::kElu, [](const Tensor& x) { return ops::elu(x); }},
    {"sigmoid", ops::Activation::kSigmoid, [](const Tensor& x) { return ops::sigmoid(x); }},
    {"leaky relu", ops::Activation::kLeakyrelu,
     [](const Tensor& x) { return ops::leaky_relu(x, {.alpha = 0.3}); }},
};

std::vector<float> numbers_of_all_sizes() {
  constexpr float kMost = std::numeric_limits<float>::max();
  std::vector<float> all{0,      1e-45F, 1e-38F, 87.3F, 88.7F,
                         88.73F, 104,    178.5F, kMost, std::numeric_limits<float>::infinity()};
  for (float x = 1e-6F; x < 1e6F; x *= 1.037F) all.push_back(x);
  const std::size_t half = all.size();
  for (std::size_t i = 0; i < half; ++i) all.push_back(-all[i]);
  all.push_back(std::numeric_limits<float>::quiet_NaN());
  return all;
}

class Activations : public ProgramCase {
 protected:
  static Tensor column() {
    const std::vector<float> all = numbers_of_all_sizes();
    const auto rows = static_cast<std::int64_t>(all.size());
    return tensor(all, {rows, 1});
  }
  static Tensor picture(const Tensor& x) { return ops::reshape(x, {1, x.shape().dims()[0], 1, 1}); }
  static void expect_alike(const Tensor& ours, const Tensor& theirs, const Tensor& x) {
    const Tensor flat = ops::reshape(ours, {theirs.shape().dims()[0], 1});
    const std::vector<float> from = x.to_vector<float>();
    std::size_t at = 0;
    compare({flat}, {theirs}, [&](float one, float other) {
      SCOPED_TRACE(testing::Message() << "of " << from[at++]);
      if (std::isnan(other))
        ASSERT_TRUE(std::isnan(one)) << one;
      else if (std::isinf(other))
        ASSERT_EQ(one, other);
      else
        ASSERT_NEAR(one, other, 2e-7 * std::abs(other));
    });
  }

  const Tensor x_ = column();
  const Tensor one_ = ops::fill({1, 1}, 1, DType::kFloat32);
  const Tensor filter_ = ops::fill({1, 1, 1, 1}, 1, DType::kFloat32);
};

TEST_F(Activations, OfProductsAndConvolutionsAreTheOperations) {
  for (const Named& each : kActivations) {
    SCOPED_TRACE(each.name);
    const Tensor wanted = each.alone(x_);
    expect_alike(
        ops::fused_mat_mul(x_, one_, {.activation = each.activation, .leakyrelu_alpha = 0.3}),
        wanted, x_);
    expect_alike(ops::fused_conv2d(picture(x_), filter_,
                                   {.activation = each.activation, .leakyrelu_alpha = 0.3}),
                 wanted, x_);
    expect_alike(ops::fused_depthwise_conv2d(
                     picture(x_), filter_, {.activation = each.activation, .leakyrelu_alpha = 0.3}),
                 wanted, x_);
  }
}

TEST_F(Activations, ThatRecordedProductsTakeAreTheOperations) {
  for (const Named& each : kActivations) {
    SCOPED_TRACE(each.name);
    const auto function = [&](const Tensors& in) {
      return Tensors{each.alone(ops::batch_mat_mul(in[0], in[1]))};
    };
    const Tensors given{x_, one_};
    for (const bool keep : {false, true}) {
      const Program program = recorded(given, function, {.variables = 1, .keep = keep});
      for (int i = 0; i < 3; ++i) expect_alike(run(program, given).front(), each.alone(x_), x_);
    }
  }
}

}  // namespace
}  // namespace ebb::test
