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
  Tensor x = ops::pad_v2(ops::fill({kCount - 3}, 7, DType::kUint8), {0, 3}, 5);
  EXPECT_EQ(x.shape(), Shape{kCount});
  EXPECT_EQ(tail(x), (std::vector<std::uint8_t>{5, 5, 5}));
  x = ops::reverse(x, {0});
  EXPECT_EQ(tail(x), (std::vector<std::uint8_t>{7, 7, 7}));
  EXPECT_EQ(ops::slice(x, {0}, {4}).to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{5, 5, 5, 7}));
  EXPECT_EQ(ops::gather_v2(ops::reshape(x, {kCount, 1}), tensor({2147483647}, {1}), 0, 0)
                .to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{7}));
}

TEST_F(LargeOps, SumsCountAll) {
  TestSession session;
  const Tensor ones = ops::fill({kCount}, 1, DType::kBool);
  EXPECT_EQ(ops::sum(ops::reshape(ones, {3, kCount / 3}), {1}, false).to_vector<std::int32_t>(),
            std::vector<std::int32_t>(3, static_cast<std::int32_t>(kCount / 3)));
}
static_assert(kCount % 3 == 0);

}  // namespace
}  // namespace ebb::test
