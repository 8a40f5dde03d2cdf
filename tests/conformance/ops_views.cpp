// What is a view and what is a copy: transposes, slices and parts of complex numbers share memory,
// operations that can read them where they are do so, and others make them dense once.
#include <gtest/gtest.h>

#include <numeric>

#include "ebb/ebb.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

class OpViews : public testing::Test {
 protected:
  Tensor iota(const Shape& shape) {
    Floats values(shape.elements());
    std::iota(values.begin(), values.end(), 0.0f);
    return tensor(std::span<const float>(values), shape);
  }
  bool dense(const Tensor& x) { return session_.context().describe(x.handle()).dense; }
  std::uint64_t storages() { return session_.context().memory().books.created_storages.count; }
  // How many storages the work makes.
  template <typename Work>
  std::uint64_t made_by(Work work) {
    const std::uint64_t before = storages();
    work();
    return storages() - before;
  }

  Session session_;
};

TEST_F(OpViews, MakeNoStorage) {
  const Tensor x = iota({4, 6});
  EXPECT_EQ(
      made_by([&] {
        const Tensor turned = ops::transpose(x, {1, 0});
        EXPECT_FALSE(dense(turned));
        EXPECT_TRUE(dense(ops::transpose(turned, {1, 0}))) << "as it was";
        const Tensor part = ops::slice(turned, {1, 1}, {4, 2});
        EXPECT_EQ(part.to_vector<float>(), (Floats{7, 13, 8, 14, 9, 15, 10, 16}));
        EXPECT_EQ(ops::strided_slice(x, {0, 1}, {1, 2}, {4, 3}).to_vector<float>(),
                  (Floats{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}));
        EXPECT_EQ(ops::expand_dims(part, {.dim = 1}).to_vector<float>(), part.to_vector<float>());
        EXPECT_EQ(ops::identity(part).to_vector<float>(), part.to_vector<float>());
        EXPECT_EQ(ops::cast(part, DType::kFloat32).to_vector<float>(), part.to_vector<float>());
      }),
      0u);
}

TEST_F(OpViews, OfComplexNumbers) {
  const Tensor z = ops::complex(iota({2, 3}), iota({2, 3}) * 10);
  EXPECT_EQ(made_by([&] {
              EXPECT_EQ(ops::real(z).to_vector<float>(), (Floats{0, 1, 2, 3, 4, 5}));
              EXPECT_EQ(ops::imag(z).to_vector<float>(), (Floats{0, 10, 20, 30, 40, 50}));
              EXPECT_EQ(ops::imag(ops::transpose(z, {1, 0})).to_vector<float>(),
                        (Floats{0, 30, 10, 40, 20, 50}));
            }),
            0u);
  EXPECT_EQ((ops::real(z) + ops::imag(z)).to_vector<float>(), (Floats{0, 11, 22, 33, 44, 55}));
}

TEST_F(OpViews, AreReshapedWhereStridesCan) {
  const Tensor x = iota({4, 6});
  const Tensor rows = ops::slice(x, {0, 0}, {4, 4});
  EXPECT_EQ(made_by([&] {
              const Tensor split = ops::reshape(rows, {2, 2, 2, 2});
              EXPECT_FALSE(dense(split));
              EXPECT_EQ(split.to_vector<float>(), rows.to_vector<float>());
              const Tensor turned = ops::reshape(ops::transpose(x, {1, 0}), {1, 3, 2, 1, 4});
              EXPECT_FALSE(dense(turned));
              EXPECT_EQ(turned.to_vector<float>(), ops::transpose(x, {1, 0}).to_vector<float>());
            }),
            0u);
  EXPECT_EQ(made_by([&] {
              const Tensor flat = ops::reshape(rows, {16});
              EXPECT_TRUE(dense(flat));
              EXPECT_EQ(flat.to_vector<float>(), rows.to_vector<float>());
            }),
            1u);
}

TEST_F(OpViews, AreReadWhereTheyAre) {
  const Tensor x = iota({32, 48});
  const Tensor turned = ops::transpose(x, {1, 0});
  const Tensor copied = ops::reverse(ops::reverse(turned, {0}), {0});
  ASSERT_TRUE(dense(copied));
  ASSERT_FALSE(dense(turned));
  const auto same = [&](const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.to_vector<float>(), b.to_vector<float>());
  };
  same(ops::sum(turned, {0}), ops::sum(copied, {0}));
  same(ops::max(turned, {1}), ops::max(copied, {1}));
  same(ops::mean(turned, {0, 1}), ops::mean(ops::reshape(x, {-1}), {0}));
  same(ops::batch_mat_mul(x, turned), ops::batch_mat_mul(x, copied));
  same(ops::batch_mat_mul(turned, x), ops::batch_mat_mul(copied, x));
  same(ops::concat({turned, turned}, {.axis = 1}), ops::concat({copied, copied}, {.axis = 1}));
  same(ops::tile(turned, {2, 1}), ops::tile(copied, {2, 1}));
  same(ops::pad_v2(turned, {1, 1, 2, 0}, {.constant_value = 7}),
       ops::pad_v2(copied, {1, 1, 2, 0}, {.constant_value = 7}));
  same(ops::gather_v2(turned, tensor({5, 0, 31}, {3}), {.axis = 1}),
       ops::gather_v2(copied, tensor({5, 0, 31}, {3}), {.axis = 1}));
  EXPECT_FALSE(dense(turned));
  same(ops::gather_v2(turned, tensor({5, 0, 31}, {3})),
       ops::gather_v2(copied, tensor({5, 0, 31}, {3})));
  EXPECT_TRUE(dense(turned)) << "whole rows of a transposed matrix are gathered from a dense one";
}

TEST_F(OpViews, OfProductsAreTheOtherFlag) {
  const Tensor a = iota({2, 3, 4}), b = iota({2, 5, 4});
  const Tensor turned = ops::transpose(b, {0, 2, 1});
  EXPECT_EQ(ops::batch_mat_mul(a, turned).to_vector<float>(),
            ops::batch_mat_mul(a, b, {.transpose_b = true}).to_vector<float>());
  const Tensor wide = ops::cast(a, DType::kInt32), high = ops::cast(b, DType::kInt32);
  EXPECT_EQ(ops::batch_mat_mul(wide, ops::transpose(high, {0, 2, 1})).to_vector<std::int32_t>(),
            ops::batch_mat_mul(wide, high, {.transpose_b = true}).to_vector<std::int32_t>());
  EXPECT_EQ(ops::batch_mat_mul(ops::transpose(wide, {0, 2, 1}), high,
                               {.transpose_a = true, .transpose_b = true})
                .to_vector<std::int32_t>(),
            ops::batch_mat_mul(wide, high, {.transpose_b = true}).to_vector<std::int32_t>());
  EXPECT_FALSE(dense(turned));
}

TEST_F(OpViews, GatheredTwiceAreMadeDense) {
  const Tensor x = iota({32, 48});
  const Tensor turned = ops::transpose(x, {1, 0});
  const Floats expected = [&] {
    Floats values = turned.to_vector<float>();  // the first use
    for (float& each : values) each *= 2;
    return values;
  }();
  const Tensor again = ops::transpose(x, {1, 0});
  EXPECT_EQ(made_by([&] { EXPECT_EQ((again * 2.0f).to_vector<float>(), expected); }), 2u)
      << "the result and the number";
  EXPECT_FALSE(dense(again));
  EXPECT_EQ((again + again).to_vector<float>(), expected);
  EXPECT_TRUE(dense(again));
}

TEST_F(OpViews, OfASmallPartAreCopies) {
  const Tensor x = iota({64, 64});
  EXPECT_FALSE(dense(ops::slice(x, {0, 0}, {64, 16})));
  EXPECT_TRUE(dense(ops::slice(x, {0, 0}, {64, 8}))) << "or little would keep much";
  EXPECT_TRUE(dense(ops::slice(x, {3, 0}, {1, 64}))) << "a run is a view whatever its size";
}

TEST_F(OpViews, AreMadeDenseByOperationsThatNeedIt) {
  const Tensor x = iota({8, 16});
  Tensor turned = ops::transpose(x, {1, 0});
  const Floats expected =
      ops::softmax(ops::reverse(ops::reverse(turned, {0}), {0})).to_vector<float>();
  EXPECT_EQ(made_by([&] { EXPECT_EQ(ops::softmax(turned).to_vector<float>(), expected); }), 2u);
  EXPECT_TRUE(dense(turned));
  EXPECT_EQ(made_by([&] { EXPECT_EQ(ops::softmax(turned).to_vector<float>(), expected); }), 1u);
}

}  // namespace
}  // namespace ebb::test
