// Element types in C++: from a dtype to a type, 16-bit floats, and conversions as TensorFlow.js has
// them. The same on every device.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/both.hpp"
#include "ebb/base/check.hpp"
#include "ebb/base/dtype.hpp"

#ifdef __CUDACC__
#include <cuda/std/complex>
#else
#include <complex>
#endif

namespace ebb::backends {

struct Float16 {
  std::uint16_t bits;
  Float16() = default;
  EBB_BOTH explicit Float16(float value) noexcept;
  EBB_BOTH explicit operator float() const noexcept;
};

struct Bfloat16 {
  std::uint16_t bits;
  Bfloat16() = default;
  EBB_BOTH explicit Bfloat16(float value) noexcept {
    const auto whole = bits_as<std::uint32_t>(value);
    const std::uint32_t rounded = whole + 0x7fff + ((whole >> 16) & 1);  // to nearest, ties to even
    bits = value != value ? 0x7fc0 : static_cast<std::uint16_t>(rounded >> 16);
  }
  EBB_BOTH explicit operator float() const noexcept {
    return bits_as<float>(std::uint32_t{bits} << 16);
  }
};

// A byte that is true or false. Its own type, so that a conversion to it is a comparison with 0.
struct Bool {
  std::uint8_t value;
};

#ifdef __CUDACC__
template <typename T>
using Complex = ::cuda::std::complex<T>;
#else
template <typename T>
using Complex = std::complex<T>;
#endif
using Complex64 = Complex<float>;

EBB_BOTH Float16::Float16(float value) noexcept {
  const auto f = bits_as<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000;
  const std::uint32_t magnitude = f & 0x7fffffff;
  if (magnitude > 0x7f800000) {  // NaN
    bits = static_cast<std::uint16_t>(sign | 0x7e00);
  } else if (magnitude >= 0x47800000) {  // too large
    bits = static_cast<std::uint16_t>(sign | 0x7c00);
  } else if (magnitude < 0x38800000) {  // subnormal: adding 0.5 puts its bits in place, rounded
    const float shifted = bits_as<float>(magnitude) + 0.5f;
    bits = static_cast<std::uint16_t>(sign | (bits_as<std::uint32_t>(shifted) - 0x3f000000));
  } else {
    const std::uint32_t odd = (magnitude >> 13) & 1;
    bits = static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
  }
}

EBB_BOTH Float16::operator float() const noexcept {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1f;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return bits_as<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;  // arithmetic: of values
    return sign != 0 ? -magnitude : magnitude;
  }
  return bits_as<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64>;

// What arithmetic on T is done in: JavaScript's numbers for the types that TensorFlow.js has.
template <typename T>
using Arithmetic = std::conditional_t<
    kIsComplex<T>, Complex64,
    std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t,
                       std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, Float16> ||
                                              std::is_same_v<T, Bfloat16>,
                                          float, double>>>;

// As JavaScript stores a number in an integer array: truncated, modulo 2^bits; NaN and infinities
// are 0.
template <typename Integer>
EBB_BOTH Integer wrap(double value) noexcept {
  if (!(std::fabs(value) < 0x1p63)) {
    if (!(std::fabs(value) <= 0x1.fffffffffffffp1023)) return 0;
    value = std::fmod(value, 0x1p64);
    if (value >= 0x1p63) {
      value -= 0x1p64;
    } else if (value < -0x1p63) {
      value += 0x1p64;
    }
  }
  return static_cast<Integer>(static_cast<std::int64_t>(value));
}

template <typename To, typename From>
EBB_BOTH To convert(From value) noexcept {
  if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(std::int32_t{value.value});
  } else if constexpr (std::is_same_v<From, bool>) {
    return convert<To>(std::int32_t{value});
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, Bfloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (kIsComplex<From>) {
    if constexpr (kIsComplex<To>) {
      return value;
    } else {
      return convert<To>(value.real());
    }
  } else if constexpr (kIsComplex<To>) {
    return To(static_cast<float>(value), 0.0f);
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{static_cast<std::uint8_t>(value != From{} ? 1 : 0)};
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, Bfloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return wrap<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
struct Type {
  using type = T;
};

// Calls body with Type<T> for the dtype's T. The body is the host's or the device's, as its caller
// is.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <typename Body>
EBB_BOTH decltype(auto) visit(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat32:
      return body(Type<float>());
    case DType::kInt32:
      return body(Type<std::int32_t>());
    case DType::kBool:
      return body(Type<Bool>());
    case DType::kComplex64:
      return body(Type<Complex64>());
    case DType::kFloat64:
      return body(Type<double>());
    case DType::kInt64:
      return body(Type<std::int64_t>());
    case DType::kUint8:
      return body(Type<std::uint8_t>());
    case DType::kFloat16:
      return body(Type<Float16>());
    case DType::kBfloat16:
      return body(Type<Bfloat16>());
    case DType::kInt8:
      return body(Type<std::int8_t>());
    default:
#ifdef __CUDACC__
      __builtin_unreachable();  // the plug-in gets checked operands only
#else
      detail::check_failed("a dtype of fixed size", EBB_FILE_NAME, __LINE__);
#endif
  }
}

// Moving data only: calls body with Type<T> for an unsigned T of the dtype's size.
template <typename Body>
decltype(auto) visit_size(DType dtype, Body&& body) {
  switch (size_of(dtype)) {
    case 1:
      return body(Type<std::uint8_t>());
    case 2:
      return body(Type<std::uint16_t>());
    case 4:
      return body(Type<std::uint32_t>());
    default:
      return body(Type<std::uint64_t>());
  }
}

}  // namespace ebb::backends
