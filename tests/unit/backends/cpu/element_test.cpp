// 16-bit floats against the compiler's, and against arithmetic for those that it does not have.
#include "backends/element.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace ebb::backends {
namespace {

#if defined(__aarch64__)
using Half = __fp16;  // GCC 12 has no _Float16 in C++ there
#else
using Half = _Float16;
#endif

// Floats between which a 16-bit type must decide, and those far from all of them: the value of each
// pattern, its neighbours in float, and the middle between it and the next pattern.
template <typename T>
std::vector<float> floats_around() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    T pattern;
    pattern.bits = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(pattern);
    if (std::isnan(value)) continue;
    T following;
    following.bits = static_cast<std::uint16_t>(bits + 1);
    const float middle = value + (static_cast<float>(following) - value) / 2;
    for (const float each : {value, middle}) {
      values.push_back(each);
      values.push_back(std::nextafter(each, std::numeric_limits<float>::infinity()));
      values.push_back(std::nextafter(each, -std::numeric_limits<float>::infinity()));
    }
  }
  values.push_back(std::numeric_limits<float>::max());
  values.push_back(-std::numeric_limits<float>::max());
  values.push_back(std::numeric_limits<float>::denorm_min());
  return values;
}

TEST(Element, Float16IsWhatTheCompilerHas) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto expected = static_cast<float>(std::bit_cast<Half>(half.bits));
    const auto actual = static_cast<float>(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(expected));
    }
  }
  for (const float value : floats_around<Float16>()) {
    if (std::isnan(value)) continue;
    ASSERT_EQ(Float16(value).bits, std::bit_cast<std::uint16_t>(static_cast<Half>(value))) << value;
  }
}

// The 16 high bits of a float: of the two patterns around a value the nearer, of two as near the
// even one. Distances are exact in double.
TEST(Element, Bfloat16IsTheNearestOfTheTwoAroundIt) {
  for (const float value : floats_around<Bfloat16>()) {
    if (std::isnan(value)) continue;
    const auto whole = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t below = whole & 0xffff0000;
    const auto at_below = static_cast<double>(std::bit_cast<float>(below));
    const float after = std::bit_cast<float>(below + 0x10000);
    // What would be the next pattern if exponents went on: infinity counts as 2^128.
    const double at_above = std::isinf(after) ? std::copysign(0x1p128, after) : double{after};
    const double low = std::abs(value - at_below), high = std::abs(at_above - value);
    const bool up = std::isfinite(value) && (high < low || (high == low && (below >> 16) % 2 == 1));
    const std::uint32_t expected = up ? below + 0x10000 : below;
    ASSERT_EQ(Bfloat16(value).bits, expected >> 16) << value;
  }
}

TEST(Element, WhatIsNoNumberStaysSo) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(kNaN))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(kNaN))));
  // A NaN whose payload is in the low bits only.
  const auto low = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(Float16(low))));
  EXPECT_TRUE(std::isnan(static_cast<float>(Bfloat16(low))));
}

}  // namespace
}  // namespace ebb::backends
