// What the core uses of C++20 and Debian's emscripten (libc++ 14) lacks, in front of each file that the preset wasm
// compiles. With a newer libc++ this file is empty.
#pragma once

#include <version>

#if __cplusplus >= 202002L && defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <string>

namespace std {

// Fixed notation only, as the core asks for it: no sign, no exponent, no "inf".
inline from_chars_result from_chars(const char* first, const char* last, double& value,
                                    chars_format) {
  const char* end = first + (first != last && *first == '-');
  const char* digits = end;
  while (end != last && ((*end >= '0' && *end <= '9') || *end == '.')) ++end;
  if (end == digits || (end == digits + 1 && *digits == '.'))
    return {first, errc::invalid_argument};
  const string text(first, end);
  char* parsed = nullptr;
  value = strtod(text.c_str(), &parsed);
  return {first + (parsed - text.c_str()), errc()};
}

template <class To, class From>
To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

namespace ranges {

template <class Range, class Predicate, class Projection = identity>
constexpr auto find_if(Range&& range, Predicate predicate, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range), [&](auto&& each) -> bool {
    return std::invoke(predicate, std::invoke(projection, each));
  });
}

template <class Range, class Value, class Projection = identity>
constexpr auto find(Range&& range, const Value& value, Projection projection = {}) {
  return ranges::find_if(
      range, [&](auto&& each) { return each == value; }, projection);
}

template <class Range, class Compare = less, class Projection = identity>
constexpr auto min_element(Range&& range, Compare compare = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  });
}

template <class Range, class Compare = less, class Projection = identity>
constexpr void stable_sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  });
}

template <class Range, class Compare = less, class Projection = identity>
constexpr void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), [&](auto&& a, auto&& b) -> bool {
    return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
  });
}

template <class Range, class Out>
constexpr Out copy(Range&& range, Out out) {
  return std::copy(std::begin(range), std::end(range), out);
}

template <class Range, class Out, class Function>
constexpr Out transform(Range&& range, Out out, Function function) {
  return std::transform(std::begin(range), std::end(range), out, function);
}

template <class Range, class Predicate>
constexpr bool all_of(Range&& range, Predicate predicate) {
  return std::all_of(std::begin(range), std::end(range), predicate);
}

template <class Range, class Predicate>
constexpr bool any_of(Range&& range, Predicate predicate) {
  return std::any_of(std::begin(range), std::end(range), predicate);
}

template <class Range>
constexpr auto unique(Range&& range) {
  struct {
    decltype(std::begin(range)) first, last;
    constexpr auto begin() const { return first; }
    constexpr auto end() const { return last; }
  } const doubles{std::unique(std::begin(range), std::end(range)), std::end(range)};
  return doubles;
}

template <class A, class B>
constexpr bool equal(A&& a, B&& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}

}  // namespace ranges
}  // namespace std
#endif
