// Element types on the device: 16-bit floats, booleans, complex numbers, and conversions that give
// what the CPU's (backends/cpu/element.hpp) give.
#pragma once

#include <cmath>
#include <type_traits>

#include "backends/cuda/plugin/kernels/both.cuh"
#include "ebb/base/dtype.hpp"

#ifdef __CUDACC__
#include <cuda/std/complex>
#else
#include <complex>
#endif

namespace ebb::cuda {

#ifdef __CUDACC__
template <typename T>
using Complex = ::cuda::std::complex<T>;
#else
template <typename T>
using Complex = std::complex<T>;
#endif
using Complex64 = Complex<float>;

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64>;

struct Bool {
  std::uint8_t value;
};

struct Float16 {
  std::uint16_t bits;
};

struct Bfloat16 {
  std::uint16_t bits;
};

EBB_BOTH float widen(Bfloat16 value) { return bits_as<float>(std::uint32_t{value.bits} << 16); }

EBB_BOTH Bfloat16 to_bfloat16(float value) {
  const auto whole = bits_as<std::uint32_t>(value);
  const std::uint32_t rounded = whole + 0x7fff + ((whole >> 16) & 1);  // to nearest, ties to even
  return {value != value ? std::uint16_t{0x7fc0} : static_cast<std::uint16_t>(rounded >> 16)};
}

EBB_BOTH float widen(Float16 value) {
  const std::uint32_t sign = (std::uint32_t{value.bits} & 0x8000u) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1f;
  const std::uint32_t mantissa = value.bits & 0x3ff;
  if (exponent == 0x1f) return bits_as<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  return bits_as<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

EBB_BOTH Float16 to_float16(float value) {
  const auto f = bits_as<std::uint32_t>(value);
  const std::uint32_t sign = (f >> 16) & 0x8000;
  const std::uint32_t magnitude = f & 0x7fffffff;
  std::uint32_t bits;
  if (magnitude > 0x7f800000) {  // NaN
    bits = 0x7e00;
  } else if (magnitude >= 0x47800000) {  // too large
    bits = 0x7c00;
  } else if (magnitude < 0x38800000) {  // subnormal: adding 0.5 puts its bits in place, rounded
    bits = bits_as<std::uint32_t>(bits_as<float>(magnitude) + 0.5f) - 0x3f000000;
  } else {
    bits = (magnitude - 0x38000000 + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | bits)};
}

// As JavaScript stores a number in an integer array: truncated, modulo 2^bits; NaN and infinities
// are 0.
template <typename Integer>
EBB_BOTH Integer wrap(double value) {
  if (!(fabs(value) < 0x1p63)) {
    if (!(fabs(value) <= 1.7976931348623157e308)) return 0;
    value = fmod(value, 0x1p64);
    if (fabs(value) >= 0x1p63) value -= copysign(0x1p64, value);
  }
  return static_cast<Integer>(static_cast<std::int64_t>(value));
}

template <typename To, typename From>
EBB_BOTH To convert(From value) {
  if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(std::int32_t{value.value});
  } else if constexpr (std::is_same_v<From, bool>) {
    return convert<To>(std::int32_t{value});
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, Bfloat16>) {
    return convert<To>(widen(value));
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
  } else if constexpr (std::is_same_v<To, Float16>) {
    return to_float16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Bfloat16>) {
    return to_bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return wrap<To>(static_cast<double>(value));
  } else {
    return static_cast<To>(value);
  }
}

// What arithmetic on T is done in: JavaScript's numbers for the types that TensorFlow.js has.
template <typename T>
using Arithmetic = std::conditional_t<
    kIsComplex<T>, Complex64,
    std::conditional_t<std::is_same_v<T, std::int64_t>, std::int64_t,
                       std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, Float16> ||
                                              std::is_same_v<T, Bfloat16>,
                                          float, double>>>;

template <typename T>
struct Type {
  using type = T;
};

// Calls body with Type<T> for the dtype's T, at run time: one kernel serves several dtypes. The
// body is the host's or the device's, as its caller is.
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <typename Body>
EBB_BOTH void visit(DType dtype, Body&& body) {
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
      return;
  }
}

// Element i of a tensor whose dtype is known at run time only, as an A.
template <typename A>
EBB_BOTH A load(DType dtype, const void* from, std::int64_t i) {
  A value{};
  visit(dtype, [&]<typename T>(Type<T>) { value = convert<A>(static_cast<const T*>(from)[i]); });
  return value;
}

template <typename A>
EBB_BOTH void store(DType dtype, void* to, std::int64_t i, A value) {
  visit(dtype, [&]<typename T>(Type<T>) { static_cast<T*>(to)[i] = convert<T>(value); });
}

#ifdef __CUDACC__
// The same as functions of their own, for kernels that hold many operations: inlined, each of them
// would have the code of every dtype.
template <typename A>
__device__ __noinline__ A load_any(DType dtype, const void* from, std::int64_t i) {
  return load<A>(dtype, from, i);
}
template <typename A>
__device__ __noinline__ void store_any(DType dtype, void* to, std::int64_t i, A value) {
  store(dtype, to, i, value);
}
#endif

// Moving data only: calls body with Type<T> for an unsigned T of that size.
template <typename Body>
void visit_size(std::size_t bytes, Body&& body) {
  switch (bytes) {
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

}  // namespace ebb::cuda
