// Sums in an array of T, stored after each addition as JavaScript's typed arrays store them.
#pragma once

#include "backends/cpu/element.hpp"
#include "backends/cpu/wrapping.hpp"

namespace ebb::cpu {

template <typename T>
void add_to(T& sum, T value) noexcept {
  using Number = Arithmetic<T>;
  sum = convert<T>(wrapping_sum(convert<Number>(sum), convert<Number>(value)));
}

}  // namespace ebb::cpu
