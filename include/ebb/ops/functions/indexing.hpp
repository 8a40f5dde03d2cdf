// Gathers and scatters as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp indexing` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct GatherV2Options {
  std::int64_t axis = 0;
  std::int64_t batch_dims = 0;
};
inline Tensor gather_v2(const Tensor& x, const Tensor& indices,
                        const GatherV2Options& options = {}) {
  return apply_one(op_id("GatherV2"), {&x, &indices},
                   detail::Flat(options.axis, options.batch_dims).values());
}
inline Tensor gather_nd(const Tensor& params, const Tensor& indices) {
  return apply_one(op_id("GatherNd"), {&params, &indices}, {});
}
inline Tensor scatter_nd(const Tensor& indices, const Tensor& updates,
                         const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("ScatterNd"), {&indices, &updates}, detail::Flat(shape).values());
}
inline Tensor tensor_scatter_update(const Tensor& tensor, const Tensor& indices,
                                    const Tensor& updates) {
  return apply_one(op_id("TensorScatterUpdate"), {&tensor, &indices, &updates}, {});
}
inline Tensor sparse_to_dense(const Tensor& sparse_indices, const Tensor& sparse_values,
                              const Tensor& default_value,
                              const std::vector<std::int64_t>& output_shape) {
  return apply_one(op_id("SparseToDense"), {&sparse_indices, &sparse_values, &default_value},
                   detail::Flat(output_shape).values());
}
inline Tensor where(const Tensor& condition) { return apply_one(op_id("Where"), {&condition}, {}); }

}  // namespace ebb::ops
