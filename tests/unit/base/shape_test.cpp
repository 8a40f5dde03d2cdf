#include "ebb/base/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "support/expect_error.hpp"

namespace ebb {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Shape, AScalarHasOneElement) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0u);
  EXPECT_EQ(scalar.elements(), 1u);
  EXPECT_EQ(scalar.to_string(), "[]");
}

TEST(Shape, MultipliesItsExtents) {
  const Shape shape{2, 3, 5};
  EXPECT_EQ(shape.elements(), 30u);
  EXPECT_EQ(bytes_of(shape, 4), 120u);
  EXPECT_EQ(shape.to_string(), "[2,3,5]");
}

TEST(Shape, AZeroExtentMakesItEmptyHoweverLargeTheOthers) {
  EXPECT_EQ((Shape{kHuge, kHuge, 0}).elements(), 0u);
  EXPECT_EQ(bytes_of(Shape{0}, 8), 0u);
}

TEST(Shape, RejectsTooManyExtents) {
  const std::vector<std::int64_t> dims(kMaxRank + 1, 1);
  EXPECT_ERROR(Shape(dims), kInvalidArgument, "rank 7", "at most 6");
  EXPECT_EQ(Shape(std::span(dims).first(kMaxRank)).rank(), kMaxRank);
}

TEST(Shape, RejectsNegativeExtents) {
  EXPECT_ERROR((Shape{2, -1}), kInvalidArgument,
               "[2,-1] was given, extents of 0 and more are allowed");
}

TEST(Shape, SaysWhenElementsDoNotFit) {
  EXPECT_ERROR((Shape{kHuge, 3}).elements(), kInvalidArgument, "too large",
               "[9223372036854775807,3]");
  EXPECT_EQ((Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}).elements(),
            std::uint64_t{1} << 62);
}

TEST(Shape, SaysWhenBytesDoNotFit) {
  const Shape shape{std::int64_t{1} << 60};
  EXPECT_EQ(bytes_of(shape, 4), std::uint64_t{1} << 62);
  EXPECT_ERROR(bytes_of(shape, 8), kInvalidArgument, "too large");
}

TEST(Shape, ComparesByExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{1}) == Shape());
}

}  // namespace
}  // namespace ebb
