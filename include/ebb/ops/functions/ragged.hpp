// Ragged tensors as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp ragged` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline std::vector<Tensor> ragged_gather(const std::vector<Tensor>& params_nested_splits,
                                         const Tensor& params_dense_values, const Tensor& indices,
                                         std::int64_t output_ragged_rank) {
  return apply(op_id("RaggedGather"),
               detail::pointers(params_nested_splits, params_dense_values, indices),
               detail::Flat(output_ragged_rank).values());
}
inline std::vector<Tensor> ragged_range(const Tensor& starts, const Tensor& limits,
                                        const Tensor& deltas) {
  return apply(op_id("RaggedRange"), detail::pointers(starts, limits, deltas), {});
}
inline Tensor ragged_tensor_to_tensor(const Tensor& shape, const Tensor& values,
                                      const Tensor& default_value,
                                      const std::vector<Tensor>& row_partition_tensors,
                                      const std::vector<RowPartition>& row_partition_types) {
  return apply(op_id("RaggedTensorToTensor"),
               detail::pointers(shape, values, default_value, row_partition_tensors),
               detail::Flat(row_partition_types).values())[0];
}

}  // namespace ebb::ops
