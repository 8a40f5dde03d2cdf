// Integers that overflow wrap around, as in the arrays that hold the results.
#pragma once

#include <type_traits>

namespace ebb::cpu {

// function(a, b), integers as unsigned ones.
template <typename A, typename Function>
A wrapping(A a, A b, Function function) {
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    return static_cast<A>(function(static_cast<U>(a), static_cast<U>(b)));
  } else {
    return function(a, b);
  }
}

template <typename A>
A wrapping_sum(A a, A b) {
  return wrapping(a, b, [](auto x, auto y) { return x + y; });
}

template <typename A>
A wrapping_product(A a, A b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}

template <typename A>
A negated(A a) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(0 - static_cast<std::make_unsigned_t<A>>(a));
  } else {
    return -a;
  }
}

}  // namespace ebb::cpu
