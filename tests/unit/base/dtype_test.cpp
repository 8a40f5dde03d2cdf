#include "ebb/base/dtype.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ebb {
namespace {

TEST(DType, EachHasItsSize) {
  EXPECT_EQ(size_of(DType::kFloat32), 4u);
  EXPECT_EQ(size_of(DType::kInt32), 4u);
  EXPECT_EQ(size_of(DType::kBool), 1u);
  EXPECT_EQ(size_of(DType::kComplex64), 8u);
  EXPECT_EQ(size_of(DType::kFloat64), 8u);
  EXPECT_EQ(size_of(DType::kInt64), 8u);
  EXPECT_EQ(size_of(DType::kUint8), 1u);
  EXPECT_EQ(size_of(DType::kFloat16), 2u);
  EXPECT_EQ(size_of(DType::kBfloat16), 2u);
  EXPECT_EQ(size_of(DType::kInt8), 1u);
}

TEST(DType, TwoHaveNoSize) {
  EXPECT_EQ(size_of(DType::kUnknown), 0u);
  EXPECT_EQ(size_of(DType::kString), 0u);
}

TEST(DType, ValuesOutsideTheEnumAreUnknown) {
  EXPECT_EQ(size_of(DType(12)), 0u);
  EXPECT_EQ(name_of(DType(255)), "unknown");
}

TEST(DType, IsDTypeAcceptsAllButUnknown) {
  EXPECT_FALSE(is_dtype(0));
  for (std::uint32_t value = 1; value <= 11; ++value) EXPECT_TRUE(is_dtype(value)) << value;
  EXPECT_FALSE(is_dtype(12));
  EXPECT_FALSE(is_dtype(~0u));
}

TEST(DType, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (std::uint8_t value = 0; value <= 11; ++value) names.insert(name_of(DType(value)));
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(name_of(DType::kBfloat16), "bfloat16");
}

}  // namespace
}  // namespace ebb
