// Products of the float types that TensorFlow.js does not have; the others are in the expected
// files.
#include <gtest/gtest.h>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

class ProductsOf : public testing::TestWithParam<DType> {
 protected:
  Tensor as(const Tensor& values) { return ops::cast(values, GetParam()); }
  Floats floats(const Tensor& values) {
    EXPECT_EQ(values.dtype(), GetParam());
    return ops::cast(values, DType::kFloat32).to_vector<float>();
  }

  Session session_;
};

TEST_P(ProductsOf, SmallNumbersAreExact) {
  const Tensor a = as(tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {2, 3}));
  const Tensor b = as(tensor({0.5f, -1.0f, 2.0f, 3.0f, -4.0f, 0.25f}, {3, 2}));
  EXPECT_EQ(floats(ops::batch_mat_mul(a, b)), (Floats{-7.5f, 5.75f, -12, 12.5f}));
  EXPECT_EQ(floats(ops::batch_mat_mul(a, a, {.transpose_b = true})), (Floats{14, 32, 32, 77}));
  EXPECT_EQ(floats(ops::batch_mat_mul(a, a, {.transpose_a = true})),
            (Floats{17, 22, 27, 22, 29, 36, 27, 36, 45}));
}

TEST_P(ProductsOf, BatchesAreRepeated) {
  const Tensor a = as(tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 1, 2}));
  const Tensor b = as(tensor({1.0f, 0.5f}, {2, 1}));
  EXPECT_EQ(floats(ops::batch_mat_mul(a, b)), (Floats{2, 5}));
}

// Summed as float32: in 16 bits the sum would stop growing at 2,048, or 256.
TEST_P(ProductsOf, LongSumsKeepCounting) {
  const Tensor ones = as(ops::fill({1, 4096}, 1, DType::kFloat32));
  EXPECT_EQ(floats(ops::batch_mat_mul(ones, ones, {.transpose_b = true})), (Floats{4096}));
}

INSTANTIATE_TEST_SUITE_P(Floats, ProductsOf,
                         testing::Values(DType::kFloat64, DType::kFloat16, DType::kBfloat16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace ebb::test
