// Element types. The values are the C ABI's ebb_dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ebb {

enum class DType : std::uint8_t {
  kUnknown = 0,
  kFloat32 = 1,
  kInt32 = 2,
  kBool = 3,
  kComplex64 = 4,
  kFloat64 = 5,
  kInt64 = 6,
  kUint8 = 7,
  kFloat16 = 8,
  kBfloat16 = 9,
  kInt8 = 10,
  kString = 11,  // foreign tensors only: its elements have no size
};

// Bytes of one element; 0 where elements have no fixed size.
constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
    case DType::kInt8:
      return 1;
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kComplex64:
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    default:
      return 0;
  }
}
std::string_view name_of(DType dtype) noexcept;
bool is_dtype(std::uint32_t value) noexcept;

}  // namespace ebb
