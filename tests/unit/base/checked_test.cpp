#include "ebb/base/checked.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kMostUnsigned = std::numeric_limits<std::uint64_t>::max();

TEST(Checked, WhatFitsIsTheResult) {
  EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked_mul(kLeast, 1), kLeast);
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_sub(kLeast + 1, 1), kLeast);
  EXPECT_EQ(checked_add(kMostUnsigned, 0u), kMostUnsigned);
}

TEST(Checked, WhatDoesNotFitIsAnErrorThatSaysWhat) {
  EXPECT_ERROR(checked_mul(std::int64_t{4096}, (std::int64_t{1} << 52) + 1), kInvalidArgument,
               "[size] 4096 * 4503599627370497 was given");
  EXPECT_ERROR(checked_mul(kLeast, -1), kInvalidArgument, "within 64 bits");
  EXPECT_ERROR(checked_add(kMost, 1), kInvalidArgument, "+ 1 was given");
  EXPECT_ERROR(checked_sub(kLeast, 1), kInvalidArgument, "- 1 was given");
  EXPECT_ERROR(checked_add(kMostUnsigned, 1u), kInvalidArgument, "18446744073709551615 + 1");
  EXPECT_ERROR(checked_sub(std::uint64_t{1}, 2u), kInvalidArgument, "1 - 2");
}

TEST(Checked, SaturatingStaysAtTheLargest) {
  EXPECT_EQ(saturating_mul(3, 4), 12);
  EXPECT_EQ(saturating_mul(kMost, 0), 0);
  EXPECT_EQ(saturating_mul(std::int64_t{1} << 32, std::int64_t{1} << 31), kMost);
}

}  // namespace
}  // namespace ebb::test
