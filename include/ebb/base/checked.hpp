// Arithmetic on sizes: extents, strides, counts, offsets, bytes and attributes. What does not fit
// is an error and never another number, so that no shape, loop or allocation begins with one that
// wrapped around. tools/check_arithmetic.py holds the code to it.
//
//   dims.push_back(checked_mul(x.shape.dims()[i], reps[i]));
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ebb {

// `[size] 4096 * 4503599627370497 was given, a result within 64 bits is allowed`
[[noreturn, gnu::cold]] void refuse_arithmetic(std::int64_t a, char sign, std::int64_t b);
[[noreturn, gnu::cold]] void refuse_arithmetic(std::uint64_t a, char sign, std::uint64_t b);

template <typename T>
concept Size = std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

template <Size T>
constexpr T checked_mul(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
    refuse_arithmetic(a, '*', b);
  return result;
}

template <Size T>
constexpr T checked_add(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_add_overflow(a, b, &result)) [[unlikely]]
    refuse_arithmetic(a, '+', b);
  return result;
}

template <Size T>
constexpr T checked_sub(T a, std::type_identity_t<T> b) {
  T result{};
  if (__builtin_sub_overflow(a, b, &result)) [[unlikely]]
    refuse_arithmetic(a, '-', b);
  return result;
}

// Of sizes that are 0 or more, where the largest number stands for all that do not fit: the steps
// and runs of an empty tensor, which lead nowhere.
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

}  // namespace ebb
