// Elementwise operations as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp elementwise` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor abs(const Tensor& x) { return apply_one(op_id("Abs"), {&x}, {}); }
inline Tensor acos(const Tensor& x) { return apply_one(op_id("Acos"), {&x}, {}); }
inline Tensor acosh(const Tensor& x) { return apply_one(op_id("Acosh"), {&x}, {}); }
inline Tensor asin(const Tensor& x) { return apply_one(op_id("Asin"), {&x}, {}); }
inline Tensor asinh(const Tensor& x) { return apply_one(op_id("Asinh"), {&x}, {}); }
inline Tensor atan(const Tensor& x) { return apply_one(op_id("Atan"), {&x}, {}); }
inline Tensor atanh(const Tensor& x) { return apply_one(op_id("Atanh"), {&x}, {}); }
inline Tensor ceil(const Tensor& x) { return apply_one(op_id("Ceil"), {&x}, {}); }
inline Tensor clip_by_value(const Tensor& x, double clip_value_min, double clip_value_max) {
  return apply_one(op_id("ClipByValue"), {&x},
                   detail::Flat(clip_value_min, clip_value_max).values());
}
inline Tensor cos(const Tensor& x) { return apply_one(op_id("Cos"), {&x}, {}); }
inline Tensor cosh(const Tensor& x) { return apply_one(op_id("Cosh"), {&x}, {}); }
inline Tensor elu(const Tensor& x) { return apply_one(op_id("Elu"), {&x}, {}); }
inline Tensor erf(const Tensor& x) { return apply_one(op_id("Erf"), {&x}, {}); }
inline Tensor exp(const Tensor& x) { return apply_one(op_id("Exp"), {&x}, {}); }
inline Tensor expm1(const Tensor& x) { return apply_one(op_id("Expm1"), {&x}, {}); }
inline Tensor floor(const Tensor& x) { return apply_one(op_id("Floor"), {&x}, {}); }
inline Tensor is_finite(const Tensor& x) { return apply_one(op_id("IsFinite"), {&x}, {}); }
inline Tensor is_inf(const Tensor& x) { return apply_one(op_id("IsInf"), {&x}, {}); }
inline Tensor is_nan(const Tensor& x) { return apply_one(op_id("IsNan"), {&x}, {}); }
struct LeakyReluOptions {
  double alpha = 0.2;
};
inline Tensor leaky_relu(const Tensor& x, const LeakyReluOptions& options = {}) {
  return apply_one(op_id("LeakyRelu"), {&x}, detail::Flat(options.alpha).values());
}
inline Tensor log(const Tensor& x) { return apply_one(op_id("Log"), {&x}, {}); }
inline Tensor log1p(const Tensor& x) { return apply_one(op_id("Log1p"), {&x}, {}); }
inline Tensor logical_not(const Tensor& x) { return apply_one(op_id("LogicalNot"), {&x}, {}); }
inline Tensor neg(const Tensor& x) { return apply_one(op_id("Neg"), {&x}, {}); }
inline Tensor reciprocal(const Tensor& x) { return apply_one(op_id("Reciprocal"), {&x}, {}); }
inline Tensor relu(const Tensor& x) { return apply_one(op_id("Relu"), {&x}, {}); }
inline Tensor relu6(const Tensor& x) { return apply_one(op_id("Relu6"), {&x}, {}); }
inline Tensor round(const Tensor& x) { return apply_one(op_id("Round"), {&x}, {}); }
inline Tensor rsqrt(const Tensor& x) { return apply_one(op_id("Rsqrt"), {&x}, {}); }
inline Tensor selu(const Tensor& x) { return apply_one(op_id("Selu"), {&x}, {}); }
inline Tensor sigmoid(const Tensor& x) { return apply_one(op_id("Sigmoid"), {&x}, {}); }
inline Tensor sign(const Tensor& x) { return apply_one(op_id("Sign"), {&x}, {}); }
inline Tensor sin(const Tensor& x) { return apply_one(op_id("Sin"), {&x}, {}); }
inline Tensor sinh(const Tensor& x) { return apply_one(op_id("Sinh"), {&x}, {}); }
inline Tensor softplus(const Tensor& x) { return apply_one(op_id("Softplus"), {&x}, {}); }
inline Tensor sqrt(const Tensor& x) { return apply_one(op_id("Sqrt"), {&x}, {}); }
inline Tensor square(const Tensor& x) { return apply_one(op_id("Square"), {&x}, {}); }
struct StepOptions {
  double alpha = 0;
};
inline Tensor step(const Tensor& x, const StepOptions& options = {}) {
  return apply_one(op_id("Step"), {&x}, detail::Flat(options.alpha).values());
}
inline Tensor tan(const Tensor& x) { return apply_one(op_id("Tan"), {&x}, {}); }
inline Tensor tanh(const Tensor& x) { return apply_one(op_id("Tanh"), {&x}, {}); }
inline Tensor cast(const Tensor& x, DType dtype) {
  return apply_one(op_id("Cast"), {&x}, detail::Flat(dtype).values());
}
inline Tensor complex_abs(const Tensor& x) { return apply_one(op_id("ComplexAbs"), {&x}, {}); }
inline Tensor add(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Add"), {&a, &b}, {});
}
inline Tensor add_n(const std::vector<Tensor>& tensors) {
  return apply(op_id("AddN"), detail::pointers(tensors), {})[0];
}
inline Tensor atan2(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Atan2"), {&a, &b}, {});
}
inline Tensor bitwise_and(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("BitwiseAnd"), {&a, &b}, {});
}
inline Tensor elu_grad(const Tensor& dy, const Tensor& y) {
  return apply_one(op_id("EluGrad"), {&dy, &y}, {});
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
inline Tensor prelu(const Tensor& x, const Tensor& alpha) {
  return apply_one(op_id("Prelu"), {&x, &alpha}, {});
}
inline Tensor real_div(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("RealDiv"), {&a, &b}, {});
}
inline Tensor select(const Tensor& condition, const Tensor& t, const Tensor& e) {
  return apply_one(op_id("Select"), {&condition, &t, &e}, {});
}
inline Tensor squared_difference(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("SquaredDifference"), {&a, &b}, {});
}
inline Tensor sub(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Sub"), {&a, &b}, {});
}

}  // namespace ebb::ops
