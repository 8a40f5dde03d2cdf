// Elements as unsigned integers: in the order of their values (NaN is the largest, -0 is 0), and
// one for each value that is different.
#pragma once

#include "backends/cuda/plugin/kernels/element.cuh"

namespace ebb::cuda {

template <typename Bits, typename Float>
EBB_BOTH Bits float_key(Float value) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  if (value != value) return ~Bits{0};
  const auto bits = bits_as<Bits>(value == Float{0} ? Float{0} : value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

// Keys of these dtypes have 64 bits, of the others 32.
constexpr bool has_wide_keys(DType dtype) {
  return dtype == DType::kFloat64 || dtype == DType::kInt64;
}

EBB_BOTH std::uint32_t narrow_key(DType dtype, const void* x, std::int64_t i) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat16:
    case DType::kBfloat16:
      return float_key<std::uint32_t>(load<float>(dtype, x, i));
    default:
      return static_cast<std::uint32_t>(load<std::int32_t>(dtype, x, i)) ^ 0x80000000u;
  }
}

EBB_BOTH std::uint64_t wide_key(DType dtype, const void* x, std::int64_t i) {
  if (dtype == DType::kInt64) {
    return static_cast<std::uint64_t>(static_cast<const std::int64_t*>(x)[i]) ^
           (std::uint64_t{1} << 63);
  }
  return float_key<std::uint64_t>(static_cast<const double*>(x)[i]);
}

// Equal where the elements are: all NaN are one.
EBB_BOTH std::uint64_t identity(DType dtype, const void* x, std::int64_t i) {
  if (dtype == DType::kComplex64) {
    const Complex64 value = static_cast<const Complex64*>(x)[i];
    return std::uint64_t{float_key<std::uint32_t>(value.real())} << 32 |
           float_key<std::uint32_t>(value.imag());
  }
  if (dtype == DType::kBool) return static_cast<const Bool*>(x)[i].value != 0;
  return has_wide_keys(dtype) ? wide_key(dtype, x, i) : narrow_key(dtype, x, i);
}

}  // namespace ebb::cuda
