// Sparse and ragged tensors as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp sparse` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline std::vector<Tensor> sparse_fill_empty_rows(const Tensor& a, const Tensor& b, const Tensor& c,
                                                  const Tensor& d) {
  return apply(op_id("SparseFillEmptyRows"), std::array<const Tensor*, 4>{&a, &b, &c, &d}, {});
}
inline std::vector<Tensor> sparse_reshape(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply(op_id("SparseReshape"), std::array<const Tensor*, 3>{&a, &b, &c}, {});
}
inline Tensor sparse_segment_mean(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op_id("SparseSegmentMean"), {&a, &b, &c}, {});
}
inline Tensor sparse_segment_sum(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op_id("SparseSegmentSum"), {&a, &b, &c}, {});
}
inline std::vector<Tensor> ragged_gather(const std::vector<Tensor>& inputs,
                                         std::int64_t output_ragged_rank) {
  return apply(op_id("RaggedGather"), detail::pointers(inputs),
               detail::Flat(output_ragged_rank).values());
}
inline std::vector<Tensor> ragged_range(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply(op_id("RaggedRange"), std::array<const Tensor*, 3>{&a, &b, &c}, {});
}
inline Tensor ragged_tensor_to_tensor(const std::vector<Tensor>& inputs,
                                      const std::vector<std::int64_t>& row_partition_types) {
  return apply(op_id("RaggedTensorToTensor"), detail::pointers(inputs),
               detail::Flat(row_partition_types).values())[0];
}

}  // namespace ebb::ops
