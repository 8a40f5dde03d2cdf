// Tensors of more than 2^31 bytes: what counts in 32 bits would show.
#include <gtest/gtest.h>

#include "ebb/memory/memory_limit.hpp"
#include "ebb/ops/functions.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

constexpr std::int64_t kCount = (std::int64_t{1} << 31) + 10;  // bytes of uint8; three times some

class LargeOps : public testing::Test {
 protected:
  void SetUp() override {
    if (memory_limit() < std::uint64_t{8} << 30) GTEST_SKIP() << "less than 8 GB of memory";
  }
  // The last three elements.
  static std::vector<std::uint8_t> tail(const Tensor& x) {
    return ops::slice(x, {x.shape().dims()[0] - 3}, {3}).to_vector<std::uint8_t>();
  }
};

TEST_F(LargeOps, ElementwiseToTheLast) {
  TestSession session;
  const Tensor ones = ops::fill({kCount}, 1, DType::kBool);
  EXPECT_EQ(tail(ones), (std::vector<std::uint8_t>{1, 1, 1}));
  EXPECT_EQ(tail(ops::logical_not(ones)), (std::vector<std::uint8_t>{0, 0, 0}));
}

TEST_F(LargeOps, MovedToTheLast) {
  TestSession session;
  Tensor x = ops::pad_v2(ops::fill({kCount - 3}, 7, DType::kUint8), {0, 3}, {.constant_value = 5});
  EXPECT_EQ(x.shape(), Shape{kCount});
  EXPECT_EQ(tail(x), (std::vector<std::uint8_t>{5, 5, 5}));
  x = ops::reverse(x, {0});
  EXPECT_EQ(tail(x), (std::vector<std::uint8_t>{7, 7, 7}));
  EXPECT_EQ(ops::slice(x, {0}, {4}).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{5, 5, 5, 7}));
  EXPECT_EQ(ops::gather_v2(ops::reshape(x, {kCount, 1}), tensor({2147483647}, {1}))
                .to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{7}));
}

TEST_F(LargeOps, SumsCountAll) {
  TestSession session;
  const Tensor ones = ops::fill({kCount}, 1, DType::kBool);
  EXPECT_EQ(ops::sum(ops::reshape(ones, {3, kCount / 3}), {1}).to_vector<std::int32_t>(),
            std::vector<std::int32_t>(3, static_cast<std::int32_t>(kCount / 3)));
}
static_assert(kCount % 3 == 0);

TEST_F(LargeOps, OfFloats) {
  Session session;
  const Tensor x = ops::fill({(std::int64_t{1} << 29) + 7}, -2, DType::kFloat32);
  const Tensor y = ops::neg(x);
  EXPECT_EQ(ops::slice(y, {y.shape().dims()[0] - 3}, {3}).to_vector<float>(),
            (std::vector<float>{2, 2, 2}));
}

// A view of more than 2^31 bytes is read, and made dense, to its last element.
TEST_F(LargeOps, OfViews) {
  Session session;
  constexpr std::int64_t kHigh = 18, kWide = (std::int64_t{1} << 31) / kHigh + 1;
  const Tensor x = ops::reshape(
      ops::pad_v2(ops::fill({kHigh * kWide - 1}, 0, DType::kBool), {0, 1}, {.constant_value = 1}),
      {kHigh, kWide});
  const Tensor turned = ops::transpose(x, {1, 0});
  const auto last_row = [&](const Tensor& of) {
    return ops::slice(of, {kWide - 1, 15}, {1, 3}).to_vector<std::uint8_t>();
  };
  EXPECT_EQ(last_row(turned), (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_EQ(last_row(ops::logical_not(turned)), (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST_F(LargeOps, Products) {
  Session session;
  constexpr std::int64_t kSide = 23171;  // squared, in float32: just more than 2^31 bytes
  {
    const Tensor column = ops::fill({kSide, 1}, 2, DType::kFloat32);
    const Tensor row = ops::fill({1, kSide}, 3, DType::kFloat32);
    const Tensor all = ops::batch_mat_mul(column, row);
    EXPECT_EQ(ops::slice(all, {kSide - 1, kSide - 2}, {1, 2}).to_vector<float>(),
              (std::vector<float>{6, 6}));
  }
  constexpr std::int64_t kRows = (std::int64_t{1} << 19) + 1;
  const Tensor tall = ops::pad_v2(ops::fill({kRows - 1, 1024}, 1, DType::kFloat32), {0, 1, 0, 0},
                                  {.constant_value = 2});
  const Tensor sums = ops::batch_mat_mul(tall, ops::fill({1024, 1}, 1, DType::kFloat32));
  EXPECT_EQ(ops::slice(sums, {kRows - 2, 0}, {2, 1}).to_vector<float>(),
            (std::vector<float>{1024, 2048}));
}

TEST_F(LargeOps, WindowsOverPictures) {
  Session session;
  constexpr std::int64_t kPictures = 33, kSide = 4096;
  const Tensor x =
      ops::reshape(ops::pad_v2(ops::fill({kPictures * kSide * kSide - 1}, 1, DType::kFloat32),
                               {0, 1}, {.constant_value = 5}),
                   {kPictures, kSide, kSide, 1});
  const auto last = [](const Tensor& of) {
    const Shape shape = of.shape();
    const auto d = shape.dims();
    return ops::slice(of, {d[0] - 1, d[1] - 1, d[2] - 2, 0}, {1, 1, 2, 1}).to_vector<float>();
  };
  const Tensor filter = ops::fill({2, 2, 1, 1}, 1, DType::kFloat32);
  const std::vector<std::int64_t> two{2, 2};
  EXPECT_EQ(last(ops::conv2d(x, filter, {.strides = two})), (std::vector<float>{4, 8}));
  EXPECT_EQ(last(ops::max_pool(x, two, {.strides = two})), (std::vector<float>{1, 5}));
  EXPECT_EQ(last(ops::avg_pool(x, two, {.strides = two})), (std::vector<float>{1, 2}));
}

}  // namespace
}  // namespace ebb::test
