// What the CUDA kernels compute, element by element, against the CPU's kernels: their functors
// compile for the host too.
#include "backends/cpu/element.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "backends/cpu/kernels/elementwise_rows.hpp"
#include "backends/cuda/plugin/kernels/elementwise_binary.cuh"
#include "backends/cuda/plugin/kernels/elementwise_unary.cuh"
#include "backends/cuda/plugin/kernels/keys.cuh"

namespace ebb {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32,  DType::kInt32, DType::kBool,  DType::kComplex64,
                             DType::kFloat64,  DType::kInt64, DType::kUint8, DType::kFloat16,
                             DType::kBfloat16, DType::kInt8};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Numbers in which a dtype may be wrong: ends, halves, signs, what is no number.
const std::vector<double>& numbers() {
  static const std::vector<double> values = {
      0,     -0.0,  1,     -1,   0.5,   -0.5,       1.5,           2.5,          -2.5,
      3,     -3,    7,     -7,   6,     6.5,        100,           -100,         127,
      -128,  128,   255,   256,  -129,  1e-3,       -1e-3,         65504,        65520,
      70000, 1e9,   -1e9,  1e10, -1e10, 2147483647, -2147483648.0, 2147483648.0, 9007199254740993.0,
      1e19,  -1e19, 1e300, 5e-8, 6e-8,  3e38,       kInfinity,     -kInfinity,   kNaN};
  return values;
}

template <typename T>
std::vector<T> operands() {
  std::vector<T> values;
  for (const double number : numbers()) {
    // Squares of larger ones are beyond 64 bits; Int64WrapsAround has some.
    if (std::is_same_v<T, std::int64_t> && std::abs(number) > 0x1p31) continue;
    values.push_back(cpu::convert<T>(number));
  }
  if constexpr (cpu::kIsComplex<T>) {
    values.clear();
    for (const float real : {0.0f, 1.0f, -2.5f, 0.25f}) {
      for (const float imag : {0.0f, 1.5f, -0.75f}) values.push_back({real, imag});
    }
  }
  return values;
}

template <typename T>
DType dtype_for() {
  DType found = DType::kUnknown;
  for (const DType dtype : kDTypes) {
    cpu::visit(dtype, [&]<typename Each>(cpu::Type<Each>) {
      if (std::is_same_v<T, Each>) found = dtype;
    });
  }
  return found;
}

// The same number, NaN included; floats may differ in their last digits, as libraries do.
template <typename T>
bool alike(T a, T b) {
  if constexpr (cpu::kIsComplex<T>) {
    return alike(a.real(), b.real()) && alike(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, cpu::Bool>) {
    return a.value == b.value;
  } else if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    const double x = cpu::convert<double>(a), y = cpu::convert<double>(b);
    if (x != x || y != y) return x != x && y != y;
    if (x == y) return true;
    constexpr double kDigits = sizeof(T) == 8 ? 1e-14 : sizeof(T) == 4 ? 1e-6 : 1e-2;
    return std::abs(x - y) <= kDigits * std::max(std::abs(x), std::abs(y));
  }
}

template <typename Out>
void expect_alike(const std::vector<std::byte>& cpu_bytes, const std::vector<std::byte>& cuda_bytes,
                  ops::OpId op, DType dtype) {
  const auto* a = reinterpret_cast<const Out*>(cpu_bytes.data());
  const auto* b = reinterpret_cast<const Out*>(cuda_bytes.data());
  for (std::size_t i = 0; i < cpu_bytes.size() / sizeof(Out); ++i) {
    EXPECT_TRUE(alike(a[i], b[i]))
        << ops::find_op(op)->name << " of " << name_of(dtype) << ", operand " << i
        << ": the CPU has " << cpu::convert<double>(a[i]) << ", CUDA "
        << cpu::convert<double>(b[i]);
  }
}

// What the CPU's table gives for an operation on T.
enum class Result { kSame, kFloat, kBool, kQuotient };

template <typename T>
DType dtype_of_result(Result result) {
  const DType dtype = dtype_for<T>();
  constexpr bool integer = std::is_integral_v<T> || std::is_same_v<T, cpu::Bool>;
  switch (result) {
    case Result::kBool:
      return DType::kBool;
    case Result::kFloat:
      return integer ? DType::kFloat32 : dtype;
    case Result::kQuotient:
      return dtype == DType::kInt64 ? DType::kInt64 : DType::kInt32;
    default:
      return dtype;
  }
}

void compare(const std::vector<std::byte>& a, const std::vector<std::byte>& b, ops::OpId op,
             DType from, DType to) {
  cpu::visit(to, [&]<typename Out>(cpu::Type<Out>) { expect_alike<Out>(a, b, op, from); });
}

// ---- one operand

template <typename Function, typename T>
void check_unary(const cpu::UnaryRows& rows, Result result) {
  const DType from = dtype_for<T>(), to = dtype_of_result<T>(result);
  const cpu::UnaryRow row = rows.find(Function::kOp, from);
  ASSERT_NE(row, nullptr) << ops::find_op(Function::kOp)->name << " of " << name_of(from);
  const std::vector<T> x = operands<T>();
  const double attributes[2] = {-1.5, 2.25};
  const cuda::Numbers given{{-1.5, 2.25}};
  std::vector<std::byte> expected(x.size() * size_of(to)), actual(expected.size());
  row(x.data(), expected.data(), static_cast<std::int64_t>(x.size()), attributes);
  using A = cuda::Arithmetic<
      std::conditional_t<std::is_same_v<T, cpu::Float16> || std::is_same_v<T, cpu::Bfloat16>, float,
                         std::conditional_t<std::is_same_v<T, cpu::Bool>, std::uint8_t, T>>>;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    cuda::store(to, actual.data(), at, Function()(cuda::load<A>(from, x.data(), at), given));
  }
  compare(expected, actual, Function::kOp, from, to);
}

template <typename T, typename... Functions>
void check_unaries(const cpu::UnaryRows& rows, Result result, cuda::List<Functions...>) {
  (check_unary<Functions, T>(
       rows, Functions::kOp == ops::op_id("Exp") || Functions::kOp == ops::op_id("LeakyRelu")
                 ? Result::kFloat
                 : result),
   ...);
}

TEST(CudaElement, UnaryFunctionsGiveTheCpusValues) {
  cpu::UnaryRows rows;
  cpu::add_scalar_unary_rows(rows);
  for (const DType dtype : kDTypes) {
    cpu::visit(dtype, [&]<typename T>(cpu::Type<T>) {
      if constexpr (!cpu::kIsComplex<T>) {
        check_unaries<T>(rows, Result::kSame, cuda::unary::Real());
        check_unaries<T>(rows, Result::kBool, cuda::unary::Predicates());
      }
    });
  }
}

// ---- two operands

template <typename Function, typename T>
void check_binary(const cpu::BinaryRows& rows, Result result) {
  const DType from = dtype_for<T>(), to = dtype_of_result<T>(result);
  const cpu::BinaryRow row = rows.find(Function::kOp, from);
  ASSERT_NE(row, nullptr) << ops::find_op(Function::kOp)->name << " of " << name_of(from);
  std::vector<T> a, b;
  for (const T& left : operands<T>()) {
    for (const T& right : operands<T>()) {
      a.push_back(left);
      b.push_back(right);
    }
  }
  std::vector<std::byte> expected(a.size() * size_of(to)), actual(expected.size());
  row(a.data(), 1, b.data(), 1, expected.data(), static_cast<std::int64_t>(a.size()));
  using A = cuda::Arithmetic<
      std::conditional_t<std::is_same_v<T, cpu::Float16> || std::is_same_v<T, cpu::Bfloat16>, float,
                         std::conditional_t<std::is_same_v<T, cpu::Bool>, std::uint8_t, T>>>;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    cuda::store(to, actual.data(), at,
                Function()(cuda::load<A>(from, a.data(), at), cuda::load<A>(from, b.data(), at)));
  }
  compare(expected, actual, Function::kOp, from, to);
}

constexpr bool is_comparison(ops::OpId op) {
  for (const char* name : {"Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual",
                           "LogicalAnd", "LogicalOr", "LogicalXor"}) {
    if (ops::find_op(name)->id == op) return true;
  }
  return false;
}

template <typename T, typename... Functions>
void check_binaries(const cpu::BinaryRows& rows, cuda::List<Functions...>) {
  (check_binary<Functions, T>(rows, is_comparison(Functions::kOp)              ? Result::kBool
                                    : Functions::kOp == ops::op_id("FloorDiv") ? Result::kQuotient
                                                                               : Result::kSame),
   ...);
}

TEST(CudaElement, BinaryFunctionsGiveTheCpusValues) {
  cpu::BinaryRows rows;
  cpu::add_scalar_binary_rows(rows);
  for (const DType dtype : kDTypes) {
    cpu::visit(dtype, [&]<typename T>(cpu::Type<T>) {
      if constexpr (cpu::kIsComplex<T>) {
        check_binaries<T>(rows, cuda::binary::OfComplex());
      } else {
        check_binaries<T>(rows, cuda::binary::Real());
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, cpu::Bool>) {
          check_binaries<T>(rows, cuda::binary::OfIntegers());
        }
      }
    });
  }
}

// int32 has kernels of its own, which compute in int32.
TEST(CudaElement, Int32WrapsAround) {
  constexpr std::int32_t kMost = 2147483647, kLeast = -kMost - 1;
  EXPECT_EQ(cuda::binary::Add()(kMost, 1), kLeast);
  EXPECT_EQ(cuda::binary::Sub()(kLeast, 1), kMost);
  EXPECT_EQ(cuda::binary::Multiply()(65536, 65536), 0);
  EXPECT_EQ(cuda::binary::Multiply()(kMost, kMost), 1);
  EXPECT_EQ(cuda::binary::SquaredDifference()(46341, 0), -2147479015);
  EXPECT_EQ(cuda::binary::Maximum()(kLeast, kMost), kMost);
  EXPECT_EQ(cuda::binary::Minimum()(kLeast, kMost), kLeast);
}

TEST(CudaElement, Int64WrapsAround) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kLeast = -kMost - 1;
  EXPECT_EQ(cuda::binary::Add()(kMost, std::int64_t{1}), kLeast);
  EXPECT_EQ(cuda::binary::Sub()(kLeast, std::int64_t{1}), kMost);
  EXPECT_EQ(cuda::binary::Multiply()(kMost, kMost), 1);
  EXPECT_EQ(cuda::binary::FloorDiv()(kLeast, std::int64_t{-1}), kLeast);
  EXPECT_EQ(cuda::binary::Mod()(kLeast, std::int64_t{-1}), 0);
  EXPECT_EQ(cuda::unary::Square()(kMost, {}), 1);
}

// ---- conversions

TEST(CudaElement, ConversionsGiveTheCpusBits) {
  for (const DType from : kDTypes) {
    for (const DType to : kDTypes) {
      if (from == to) continue;
      cpu::visit(from, [&]<typename From>(cpu::Type<From>) {
        const std::vector<From> x = operands<From>();
        cpu::visit(to, [&]<typename To>(cpu::Type<To>) {
          const bool integer = std::is_integral_v<From> || std::is_same_v<From, cpu::Bool>;
          for (std::size_t i = 0; i < x.size(); ++i) {
            const auto at = static_cast<std::int64_t>(i);
            const To expected = cpu::convert<To>(x[i]);
            To actual{};
            if (integer) {
              cuda::store(to, &actual, 0, cuda::load<std::int64_t>(from, x.data(), at));
            } else {
              cuda::store(to, &actual, 0, cuda::load<double>(from, x.data(), at));
            }
            EXPECT_TRUE(alike(expected, actual) &&
                        (std::is_floating_point_v<To> || cpu::kIsComplex<To> ||
                         std::memcmp(&expected, &actual, sizeof expected) == 0))
                << name_of(from) << " to " << name_of(to) << ", operand " << i;
          }
        });
      });
    }
  }
}

// ---- keys

TEST(CudaElement, KeysAreInTheOrderOfTheValues) {
  const std::vector<float> rising = {-std::numeric_limits<float>::infinity(),
                                     -3e38f,
                                     -1,
                                     -1e-40f,
                                     0,
                                     1e-40f,
                                     1,
                                     3e38f,
                                     std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::quiet_NaN()};
  for (std::size_t i = 1; i < rising.size(); ++i) {
    EXPECT_LT(cuda::narrow_key(DType::kFloat32, rising.data(), static_cast<std::int64_t>(i) - 1),
              cuda::narrow_key(DType::kFloat32, rising.data(), static_cast<std::int64_t>(i)));
  }
  const float zeros[2] = {0.0f, -0.0f};
  EXPECT_EQ(cuda::narrow_key(DType::kFloat32, zeros, 0),
            cuda::narrow_key(DType::kFloat32, zeros, 1));
  const std::int32_t integers[3] = {-5, 0, 5};
  EXPECT_LT(cuda::narrow_key(DType::kInt32, integers, 0),
            cuda::narrow_key(DType::kInt32, integers, 1));
  EXPECT_LT(cuda::narrow_key(DType::kInt32, integers, 1),
            cuda::narrow_key(DType::kInt32, integers, 2));
  const std::int64_t wide[2] = {std::numeric_limits<std::int64_t>::min(), 1};
  EXPECT_LT(cuda::wide_key(DType::kInt64, wide, 0), cuda::wide_key(DType::kInt64, wide, 1));
}

}  // namespace
}  // namespace ebb
