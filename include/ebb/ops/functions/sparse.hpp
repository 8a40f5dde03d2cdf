// Sparse tensors as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp sparse` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline std::vector<Tensor> sparse_fill_empty_rows(const Tensor& indices, const Tensor& values,
                                                  const Tensor& dense_shape,
                                                  const Tensor& default_value) {
  return apply(op_id("SparseFillEmptyRows"),
               detail::pointers(indices, values, dense_shape, default_value), {});
}
inline std::vector<Tensor> sparse_reshape(const Tensor& input_indices, const Tensor& input_shape,
                                          const Tensor& new_shape) {
  return apply(op_id("SparseReshape"), detail::pointers(input_indices, input_shape, new_shape), {});
}
inline Tensor sparse_segment_mean(const Tensor& data, const Tensor& indices,
                                  const Tensor& segment_ids) {
  return apply_one(op_id("SparseSegmentMean"), {&data, &indices, &segment_ids}, {});
}
inline Tensor sparse_segment_sum(const Tensor& data, const Tensor& indices,
                                 const Tensor& segment_ids) {
  return apply_one(op_id("SparseSegmentSum"), {&data, &indices, &segment_ids}, {});
}

}  // namespace ebb::ops
