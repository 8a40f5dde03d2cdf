// Views as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp views` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor identity(const Tensor& x) { return apply_one(op_id("Identity"), {&x}, {}); }
inline Tensor reshape(const Tensor& x, const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("Reshape"), {&x}, detail::Flat(shape).values());
}
struct ExpandDimsOptions {
  std::int64_t dim = 0;
};
inline Tensor expand_dims(const Tensor& input, const ExpandDimsOptions& options = {}) {
  return apply_one(op_id("ExpandDims"), {&input}, detail::Flat(options.dim).values());
}
inline Tensor slice(const Tensor& x, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& size) {
  return apply_one(op_id("Slice"), {&x}, detail::Flat(begin, size).values());
}
inline Tensor transpose(const Tensor& x, const std::vector<std::int64_t>& perm) {
  return apply_one(op_id("Transpose"), {&x}, detail::Flat(perm).values());
}
inline Tensor real(const Tensor& input) { return apply_one(op_id("Real"), {&input}, {}); }
inline Tensor imag(const Tensor& input) { return apply_one(op_id("Imag"), {&input}, {}); }

}  // namespace ebb::ops
