// Elementwise operations as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp elementwise` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor abs(const Tensor& a) { return apply_one(op_id("Abs"), {&a}, {}); }
inline Tensor acos(const Tensor& a) { return apply_one(op_id("Acos"), {&a}, {}); }
inline Tensor acosh(const Tensor& a) { return apply_one(op_id("Acosh"), {&a}, {}); }
inline Tensor asin(const Tensor& a) { return apply_one(op_id("Asin"), {&a}, {}); }
inline Tensor asinh(const Tensor& a) { return apply_one(op_id("Asinh"), {&a}, {}); }
inline Tensor atan(const Tensor& a) { return apply_one(op_id("Atan"), {&a}, {}); }
inline Tensor atanh(const Tensor& a) { return apply_one(op_id("Atanh"), {&a}, {}); }
inline Tensor ceil(const Tensor& a) { return apply_one(op_id("Ceil"), {&a}, {}); }
inline Tensor clip_by_value(const Tensor& a, double clip_value_min, double clip_value_max) {
  return apply_one(op_id("ClipByValue"), {&a},
                   detail::Flat(clip_value_min, clip_value_max).values());
}
inline Tensor cos(const Tensor& a) { return apply_one(op_id("Cos"), {&a}, {}); }
inline Tensor cosh(const Tensor& a) { return apply_one(op_id("Cosh"), {&a}, {}); }
inline Tensor elu(const Tensor& a) { return apply_one(op_id("Elu"), {&a}, {}); }
inline Tensor erf(const Tensor& a) { return apply_one(op_id("Erf"), {&a}, {}); }
inline Tensor exp(const Tensor& a) { return apply_one(op_id("Exp"), {&a}, {}); }
inline Tensor expm1(const Tensor& a) { return apply_one(op_id("Expm1"), {&a}, {}); }
inline Tensor floor(const Tensor& a) { return apply_one(op_id("Floor"), {&a}, {}); }
inline Tensor is_finite(const Tensor& a) { return apply_one(op_id("IsFinite"), {&a}, {}); }
inline Tensor is_inf(const Tensor& a) { return apply_one(op_id("IsInf"), {&a}, {}); }
inline Tensor is_nan(const Tensor& a) { return apply_one(op_id("IsNan"), {&a}, {}); }
inline Tensor leaky_relu(const Tensor& a, double alpha) {
  return apply_one(op_id("LeakyRelu"), {&a}, detail::Flat(alpha).values());
}
inline Tensor log(const Tensor& a) { return apply_one(op_id("Log"), {&a}, {}); }
inline Tensor log1p(const Tensor& a) { return apply_one(op_id("Log1p"), {&a}, {}); }
inline Tensor logical_not(const Tensor& a) { return apply_one(op_id("LogicalNot"), {&a}, {}); }
inline Tensor neg(const Tensor& a) { return apply_one(op_id("Neg"), {&a}, {}); }
inline Tensor reciprocal(const Tensor& a) { return apply_one(op_id("Reciprocal"), {&a}, {}); }
inline Tensor relu(const Tensor& a) { return apply_one(op_id("Relu"), {&a}, {}); }
inline Tensor relu6(const Tensor& a) { return apply_one(op_id("Relu6"), {&a}, {}); }
inline Tensor round(const Tensor& a) { return apply_one(op_id("Round"), {&a}, {}); }
inline Tensor rsqrt(const Tensor& a) { return apply_one(op_id("Rsqrt"), {&a}, {}); }
inline Tensor selu(const Tensor& a) { return apply_one(op_id("Selu"), {&a}, {}); }
inline Tensor sigmoid(const Tensor& a) { return apply_one(op_id("Sigmoid"), {&a}, {}); }
inline Tensor sign(const Tensor& a) { return apply_one(op_id("Sign"), {&a}, {}); }
inline Tensor sin(const Tensor& a) { return apply_one(op_id("Sin"), {&a}, {}); }
inline Tensor sinh(const Tensor& a) { return apply_one(op_id("Sinh"), {&a}, {}); }
inline Tensor softplus(const Tensor& a) { return apply_one(op_id("Softplus"), {&a}, {}); }
inline Tensor sqrt(const Tensor& a) { return apply_one(op_id("Sqrt"), {&a}, {}); }
inline Tensor square(const Tensor& a) { return apply_one(op_id("Square"), {&a}, {}); }
inline Tensor step(const Tensor& a, double alpha) {
  return apply_one(op_id("Step"), {&a}, detail::Flat(alpha).values());
}
inline Tensor tan(const Tensor& a) { return apply_one(op_id("Tan"), {&a}, {}); }
inline Tensor tanh(const Tensor& a) { return apply_one(op_id("Tanh"), {&a}, {}); }
inline Tensor cast(const Tensor& a, DType dtype) {
  return apply_one(op_id("Cast"), {&a}, detail::Flat(dtype).values());
}
inline Tensor complex_abs(const Tensor& a) { return apply_one(op_id("ComplexAbs"), {&a}, {}); }
inline Tensor add(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Add"), {&a, &b}, {});
}
inline Tensor add_n(const std::vector<Tensor>& inputs) {
  return apply(op_id("AddN"), detail::pointers(inputs), {})[0];
}
inline Tensor atan2(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Atan2"), {&a, &b}, {});
}
inline Tensor bitwise_and(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("BitwiseAnd"), {&a, &b}, {});
}
inline Tensor elu_grad(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("EluGrad"), {&a, &b}, {});
}
inline Tensor equal(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Equal"), {&a, &b}, {});
}
inline Tensor floor_div(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("FloorDiv"), {&a, &b}, {});
}
inline Tensor greater(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Greater"), {&a, &b}, {});
}
inline Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("GreaterEqual"), {&a, &b}, {});
}
inline Tensor less(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Less"), {&a, &b}, {});
}
inline Tensor less_equal(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("LessEqual"), {&a, &b}, {});
}
inline Tensor logical_and(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("LogicalAnd"), {&a, &b}, {});
}
inline Tensor logical_or(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("LogicalOr"), {&a, &b}, {});
}
inline Tensor logical_xor(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("LogicalXor"), {&a, &b}, {});
}
inline Tensor maximum(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Maximum"), {&a, &b}, {});
}
inline Tensor minimum(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Minimum"), {&a, &b}, {});
}
inline Tensor mod(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Mod"), {&a, &b}, {});
}
inline Tensor multiply(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Multiply"), {&a, &b}, {});
}
inline Tensor not_equal(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("NotEqual"), {&a, &b}, {});
}
inline Tensor pow(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Pow"), {&a, &b}, {});
}
inline Tensor prelu(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Prelu"), {&a, &b}, {});
}
inline Tensor real_div(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("RealDiv"), {&a, &b}, {});
}
inline Tensor select(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op_id("Select"), {&a, &b, &c}, {});
}
inline Tensor squared_difference(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("SquaredDifference"), {&a, &b}, {});
}
inline Tensor sub(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Sub"), {&a, &b}, {});
}

}  // namespace ebb::ops
