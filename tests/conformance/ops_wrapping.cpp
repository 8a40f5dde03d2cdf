// int64 arithmetic past its ends wraps around: what two's complement gives, written out.
#include <gtest/gtest.h>

#include <limits>

#include "support/audited.hpp"
#include "support/op_world.hpp"

namespace ebb::test {
namespace {

using Integers = std::vector<std::int64_t>;
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kHalf = std::int64_t{1} << 32;

class WrappingOps : public testing::Test {
 protected:
  Integers run(std::string_view op, std::vector<Handle> inputs,
               std::vector<double> attributes = {}) {
    return world_.read<std::int64_t>(world_.run(op, inputs, attributes).front());
  }

  OpWorld world_;
  const Handle ends_ = world_.make<std::int64_t>({3}, {kLeast, kMost, kHalf});
};

TEST_F(WrappingOps, OfOneOperand) {
  EXPECT_EQ(run("Abs", {ends_}), (Integers{kLeast, kMost, kHalf}));
  EXPECT_EQ(run("Neg", {ends_}), (Integers{kLeast, -kMost, -kHalf}));
  EXPECT_EQ(run("Square", {ends_}), (Integers{0, 1, 0}));
}

TEST_F(WrappingOps, OfTwoOperands) {
  EXPECT_EQ(run("Add", {ends_, ends_}), (Integers{0, -2, 2 * kHalf}));
  EXPECT_EQ(run("Multiply", {ends_, ends_}), (Integers{0, 1, 0}));
}

TEST_F(WrappingOps, OfSums) {
  const Handle zeros = world_.make<std::int32_t>({3}, {0, 0, 0});
  const Handle places = world_.make<std::int32_t>({3, 1}, {0, 0, 0});
  const Handle order = world_.make<std::int32_t>({3}, {1, 1, 2});
  EXPECT_EQ(run("Cumsum", {ends_}, {0, 0, 0}), (Integers{kLeast, -1, kHalf - 1}));
  EXPECT_EQ(run("Cumprod", {ends_}, {0, 0, 0}), (Integers{kLeast, kLeast, 0}));
  EXPECT_EQ(run("UnsortedSegmentSum", {ends_, zeros}, {1}), (Integers{kHalf - 1}));
  EXPECT_EQ(run("ScatterNd", {places, ends_}, {1, 1}), (Integers{kHalf - 1}));
  EXPECT_EQ(run("SparseSegmentSum", {ends_, order, zeros}), (Integers{kHalf - 2}));
}

// An extent of 0 makes a tensor empty, however large the others are.
TEST(EmptyOps, MayHaveExtentsTooLargeToMultiply) {
  OpWorld world;
  constexpr std::int64_t kLarge = std::int64_t{1} << 33;
  const Handle one = world.make<float>({1}, {1});
  for (const Shape& shape : {Shape{kLarge, kLarge, 0}, Shape{0, kLarge, kLarge}}) {
    const Handle x = world.make(DType::kFloat32, shape);
    const std::vector<ops::OpResult> sum = world.run("Add", {x, one});
    EXPECT_EQ(sum.front().shape, shape);
    EXPECT_TRUE(world.read<float>(sum.front()).empty());
  }
}

}  // namespace
}  // namespace ebb::test
