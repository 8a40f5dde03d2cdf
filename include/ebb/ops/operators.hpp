// Arithmetic on tensors, and of tensors and numbers. A number takes the tensor's dtype.
// arithmetic of this file: of tensors
#pragma once

#include "ebb/ops/functions.hpp"

namespace ebb {

namespace detail {
inline Tensor like(const Tensor& tensor, double value) {
  return ops::fill({}, value, tensor.dtype());
}
}  // namespace detail

inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::multiply(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::real_div(a, b); }
inline Tensor operator-(const Tensor& a) { return ops::neg(a); }

inline Tensor operator+(const Tensor& a, double b) { return a + detail::like(a, b); }
inline Tensor operator-(const Tensor& a, double b) { return a - detail::like(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return a * detail::like(a, b); }
inline Tensor operator/(const Tensor& a, double b) { return a / detail::like(a, b); }
inline Tensor operator+(double a, const Tensor& b) { return detail::like(b, a) + b; }
inline Tensor operator-(double a, const Tensor& b) { return detail::like(b, a) - b; }
inline Tensor operator*(double a, const Tensor& b) { return detail::like(b, a) * b; }
inline Tensor operator/(double a, const Tensor& b) { return detail::like(b, a) / b; }

}  // namespace ebb
