// Rows with vectors against the same rows one element at a time: over ordinary values, ends of
// ranges, NaN and infinities, and lengths that are not a multiple of any vector.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/elementwise_rows.hpp"

namespace ebb::cpu {
namespace {

using ops::op_id;
using Values = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();
constexpr float kMost = std::numeric_limits<float>::max();

const Values kOdd = {0.0f,  -0.0f, 1.0f,      -1.0f,      2.0f, -2.0f,  3.0f,  -3.0f,  0.5f,
                     -0.5f, 1.5f,  kInfinity, -kInfinity, kNaN, kLeast, kMost, -kMost, 4.0f,
                     -4.0f, 1e-3f, 16777216,  -16777215,  1e9f, -1e9f,  5e4f,  -5e4f,  7.0f};

// Relative, for numbers that are not tiny.
constexpr double kTolerance = 1e-6;

void expect_alike(float got, float wanted, double tolerance, const std::string& where) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(got)) << where << " gave " << got;
  } else if (std::isinf(wanted) || wanted == 0) {
    EXPECT_EQ(got, wanted) << where;
    EXPECT_EQ(std::signbit(got), std::signbit(wanted)) << where;
  } else {
    EXPECT_NEAR(got, wanted, tolerance * std::abs(wanted) + kLeast) << where;
  }
}

Values random_values(float from, float to, std::size_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> distribution(from, to);
  Values values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

template <typename Rows>
Rows rows_of(void (*first)(Rows&), void (*second)(Rows&) = nullptr) {
  Rows rows;
  first(rows);
  if (second != nullptr) second(rows);
  return rows;
}

void expect_unary(ops::OpId op, const Values& x, double tolerance = kTolerance) {
  static const UnaryRows plain = rows_of<UnaryRows>(add_scalar_unary_rows);
  static const UnaryRows vectors = rows_of<UnaryRows>(add_vector_unary_rows, add_vector_math_rows);
  const double attributes[2] = {};
  Values wanted(x.size()), got(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  plain.find(op, DType::kFloat32)(x.data(), wanted.data(), count, attributes);
  ASSERT_NE(vectors.find(op, DType::kFloat32), nullptr);
  vectors.find(op, DType::kFloat32)(x.data(), got.data(), count, attributes);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expect_alike(got[i], wanted[i], tolerance,
                 fmt::format("{} of {}", ops::find_op(op)->name, x[i]));
  }
}

template <typename T>
void expect_binary(ops::OpId op, DType dtype, const std::vector<T>& a, const std::vector<T>& b) {
  static const BinaryRows plain = rows_of<BinaryRows>(add_scalar_binary_rows);
  static const BinaryRows vectors = rows_of<BinaryRows>(add_vector_binary_rows);
  std::vector<T> wanted(a.size()), got(a.size());
  const auto count = static_cast<std::int64_t>(a.size());
  const std::int64_t b_step = b.size() == 1 ? 0 : 1;
  plain.find(op, dtype)(a.data(), 1, b.data(), b_step, wanted.data(), count);
  vectors.find(op, dtype)(a.data(), 1, b.data(), b_step, got.data(), count);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string where =
        fmt::format("{} of {} and {}", ops::find_op(op)->name, a[i], b[b_step == 0 ? 0 : i]);
    if constexpr (std::is_integral_v<T>) {
      EXPECT_EQ(got[i], wanted[i]) << where;
    } else {
      expect_alike(got[i], wanted[i], kTolerance, where);
    }
  }
}

// Every pair of the odd ones.
std::pair<Values, Values> pairs(const Values& of) {
  std::pair<Values, Values> made;
  for (const float a : of) {
    for (const float b : of) {
      made.first.push_back(a);
      made.second.push_back(b);
    }
  }
  return made;
}

TEST(VectorRows, TangentIsThePlainOne) {
  expect_unary(op_id("Tan"), kOdd);
  expect_unary(op_id("Tan"), random_values(-3.2f, 3.2f, 10007));
  expect_unary(op_id("Tan"), random_values(-38000, 38000, 10007));
  // The floats on both sides of a pole.
  const float pole = 1.57079637f;
  expect_unary(op_id("Tan"), {pole, std::nextafter(pole, 0.0f), std::nextafter(pole, 2.0f)});
}

TEST(VectorRows, ErrorFunctionIsThePlainOne) {
  expect_unary(op_id("Erf"), kOdd);
  expect_unary(op_id("Erf"), random_values(-5, 5, 10007));
  expect_unary(op_id("Erf"), random_values(-1e-3f, 1e-3f, 1003));
}

TEST(VectorRows, InverseHyperbolicsAreThePlainOnes) {
  for (const ops::OpId op : {op_id("Acosh"), op_id("Asinh"), op_id("Atanh")}) {
    expect_unary(op, kOdd);
  }
  expect_unary(op_id("Acosh"), random_values(1, 50, 10007), 2e-6);
  expect_unary(op_id("Asinh"), random_values(-50, 50, 10007), 2e-6);
  expect_unary(op_id("Atanh"), random_values(-0.999f, 0.999f, 10007), 2e-6);
}

TEST(VectorRows, PowerIsThePlainOne) {
  const auto [bases, exponents] = pairs(kOdd);
  expect_binary<float>(op_id("Pow"), DType::kFloat32, bases, exponents);
  expect_binary<float>(op_id("Pow"), DType::kFloat32, random_values(0, 20, 10007),
                       random_values(-20, 20, 10007));
  expect_binary<float>(op_id("Pow"), DType::kFloat32, random_values(-3, 3, 1003), {3.0f});
}

TEST(VectorRows, ModuloIsThePlainOne) {
  const auto [of, by] = pairs(kOdd);
  expect_binary<float>(op_id("Mod"), DType::kFloat32, of, by);
  expect_binary<float>(op_id("Mod"), DType::kFloat32, random_values(-1000, 1000, 10007),
                       random_values(-3, 3, 10007));
  std::vector<std::int32_t> a, b;
  for (std::int32_t i = -40; i <= 40; ++i) {
    for (const std::int32_t by_whole : {-7, -1, 0, 1, 2, 3, 2147483647, -2147483647 - 1}) {
      a.insert(a.end(), {i, i * 53687091, 2147483647 - i * i});
      b.insert(b.end(), {by_whole, by_whole, by_whole});
    }
  }
  expect_binary<std::int32_t>(op_id("Mod"), DType::kInt32, a, b);
}

template <typename From, typename To>
void expect_cast(DType from, DType to, const std::vector<From>& x) {
  const CastRow row = vector_cast_row(from, to);
  if (row == nullptr) GTEST_SKIP() << "this processor has no vectors for it";
  std::vector<To> got(x.size());
  row(x.data(), got.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float wanted = convert<float>(convert<To>(x[i]));
    expect_alike(convert<float>(got[i]), wanted, 0, fmt::format("{}", convert<float>(x[i])));
  }
}

TEST(VectorRows, CastsAreThePlainOnes) {
  Values x = random_values(-70000, 70000, 1003);
  x.insert(x.end(), kOdd.begin(), kOdd.end());
  x.insert(x.end(), {2147483648.0f, -2147483648.0f, 4294967296.0f, 6442450944.0f, 1e20f, 65520});
  for (const float tiny : {6e-5f, 3e-8f, 2.9802322e-8f, 1e-6f, 5.9604645e-8f}) x.push_back(tiny);
  expect_cast<float, std::int32_t>(DType::kFloat32, DType::kInt32, x);
  expect_cast<float, Float16>(DType::kFloat32, DType::kFloat16, x);
}

// UndefinedBehaviorSanitizer looks at the way there.
TEST(Wrapped, AtTheEdgesOfWhatAnInt64Holds) {
  const double least = -0x1p63, below = std::nextafter(0x1p63, 0);
  EXPECT_EQ(backends::wrap<std::int64_t>(least), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(backends::wrap<std::int64_t>(-least), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(backends::wrap<std::int64_t>(below),
            (std::int64_t{1} << 62) - 1024 + (std::int64_t{1} << 62));
  EXPECT_EQ(backends::wrap<std::int64_t>(-0x1p64), 0);
  EXPECT_EQ(backends::wrap<std::int32_t>(least), 0);
  EXPECT_EQ(backends::wrap<std::int32_t>(-0x1p63 - 0x1p11), -2048);
  EXPECT_EQ(backends::wrap<std::int32_t>(0x1p63 + 0x1p11), 2048);
}

TEST(VectorRows, EveryHalfIsWidenedAsThePlainLoopDoes) {
  std::vector<Float16> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  expect_cast<Float16, float>(DType::kFloat16, DType::kFloat32, halves);
}

}  // namespace
}  // namespace ebb::cpu
