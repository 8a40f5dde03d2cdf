// Convolutions of several images, which a backend may make in another way than those of one.
#include <gtest/gtest.h>

#include <cmath>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

constexpr std::int64_t kImages = 4, kSide = 13, kChannels = 5, kFilters = 30;

Tensor values(const Shape& shape, float step) {
  Floats made(shape.elements());
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i] = std::sin(static_cast<float>(i) * step);
  }
  return tensor(made, shape);
}

struct Fused {
  const char* name;
  ops::Activation activation;
  bool per_filter;  // the bias
};

class FusedConvolutions : public testing::TestWithParam<Fused> {
 protected:
  Tensor convolve(const Tensor& x) {
    const Tensor filter = values({3, 3, kChannels, kFilters}, 0.7F);
    const Tensor bias = GetParam().per_filter ? values({kFilters}, 1.3F) : tensor({0.25F}, {1});
    const Tensor slope =
        GetParam().activation == ops::Activation::kPrelu ? values({kFilters}, 2.1F) : Tensor();
    return ops::fused_conv2d(x, filter,
                             {.bias = bias,
                              .prelu_activation_weights = slope,
                              .pads = {1, 1, 1, 1},
                              .output_size = {kSide, kSide},
                              .activation = GetParam().activation});
  }
  Session session_;
};

TEST_P(FusedConvolutions, OfABatchAreThoseOfItsImages) {
  const Tensor x = values({kImages, kSide, kSide, kChannels}, 0.37F);
  const Floats all = convolve(x).to_vector<float>();
  Floats one_by_one;
  for (std::int64_t i = 0; i < kImages; ++i) {
    const Tensor image = ops::slice(x, {i, 0, 0, 0}, {1, kSide, kSide, kChannels});
    const Floats result = convolve(image).to_vector<float>();
    one_by_one.insert(one_by_one.end(), result.begin(), result.end());
  }
  ASSERT_EQ(all.size(), one_by_one.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_NEAR(all[i], one_by_one[i], 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Epilogues, FusedConvolutions,
                         testing::Values(Fused{"linear", ops::Activation::kLinear, true},
                                         Fused{"relu", ops::Activation::kRelu, true},
                                         Fused{"relu6", ops::Activation::kRelu6, true},
                                         Fused{"elu", ops::Activation::kElu, true},
                                         Fused{"prelu", ops::Activation::kPrelu, true},
                                         Fused{"leaky", ops::Activation::kLeakyrelu, true},
                                         Fused{"sigmoid", ops::Activation::kSigmoid, true},
                                         Fused{"one_bias", ops::Activation::kRelu, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ebb::test
