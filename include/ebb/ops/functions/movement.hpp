// Views, data movement and indexing as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp movement` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor identity(const Tensor& a) { return apply_one(op_id("Identity"), {&a}, {}); }
inline Tensor reshape(const Tensor& a, const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("Reshape"), {&a}, detail::Flat(shape).values());
}
inline Tensor expand_dims(const Tensor& a, std::int64_t dim) {
  return apply_one(op_id("ExpandDims"), {&a}, detail::Flat(dim).values());
}
inline Tensor slice(const Tensor& a, const std::vector<std::int64_t>& begin,
                    const std::vector<std::int64_t>& size) {
  return apply_one(op_id("Slice"), {&a}, detail::Flat(begin, size).values());
}
inline Tensor transpose(const Tensor& a, const std::vector<std::int64_t>& perm) {
  return apply_one(op_id("Transpose"), {&a}, detail::Flat(perm).values());
}
inline Tensor real(const Tensor& a) { return apply_one(op_id("Real"), {&a}, {}); }
inline Tensor imag(const Tensor& a) { return apply_one(op_id("Imag"), {&a}, {}); }
inline Tensor batch_to_space_nd(const Tensor& a, const std::vector<std::int64_t>& block_shape,
                                const std::vector<std::int64_t>& crops) {
  return apply_one(op_id("BatchToSpaceND"), {&a}, detail::Flat(block_shape, crops).values());
}
inline Tensor space_to_batch_nd(const Tensor& a, const std::vector<std::int64_t>& block_shape,
                                const std::vector<std::int64_t>& paddings) {
  return apply_one(op_id("SpaceToBatchND"), {&a}, detail::Flat(block_shape, paddings).values());
}
inline Tensor broadcast_to(const Tensor& a, const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("BroadcastTo"), {&a}, detail::Flat(shape).values());
}
inline Tensor broadcast_args(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("BroadcastArgs"), {&a, &b}, {});
}
inline Tensor concat(const std::vector<Tensor>& inputs, std::int64_t axis) {
  return apply(op_id("Concat"), detail::pointers(inputs), detail::Flat(axis).values())[0];
}
inline Tensor depth_to_space(const Tensor& a, std::int64_t block_size, bool channels_first) {
  return apply_one(op_id("DepthToSpace"), {&a}, detail::Flat(block_size, channels_first).values());
}
inline Tensor diag(const Tensor& a) { return apply_one(op_id("Diag"), {&a}, {}); }
inline Tensor matrix_band_part(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op_id("MatrixBandPart"), {&a, &b, &c}, {});
}
inline Tensor mirror_pad(const Tensor& a, const std::vector<std::int64_t>& paddings,
                         std::int64_t mode) {
  return apply_one(op_id("MirrorPad"), {&a}, detail::Flat(paddings, mode).values());
}
inline Tensor pack(const std::vector<Tensor>& inputs, std::int64_t axis) {
  return apply(op_id("Pack"), detail::pointers(inputs), detail::Flat(axis).values())[0];
}
inline Tensor pad_v2(const Tensor& a, const std::vector<std::int64_t>& paddings,
                     double constant_value) {
  return apply_one(op_id("PadV2"), {&a}, detail::Flat(paddings, constant_value).values());
}
inline Tensor reverse(const Tensor& a, const std::vector<std::int64_t>& dims) {
  return apply_one(op_id("Reverse"), {&a}, detail::Flat(dims).values());
}
inline std::vector<Tensor> split_v(const Tensor& a, const std::vector<std::int64_t>& size_splits,
                                   std::int64_t axis) {
  return apply(op_id("SplitV"), std::array<const Tensor*, 1>{&a},
               detail::Flat(size_splits, axis).values());
}
inline Tensor strided_slice(const Tensor& a, const std::vector<std::int64_t>& begin,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& size) {
  return apply_one(op_id("StridedSlice"), {&a}, detail::Flat(begin, strides, size).values());
}
inline Tensor tile(const Tensor& a, const std::vector<std::int64_t>& reps) {
  return apply_one(op_id("Tile"), {&a}, detail::Flat(reps).values());
}
inline std::vector<Tensor> unpack(const Tensor& a, std::int64_t axis) {
  return apply(op_id("Unpack"), std::array<const Tensor*, 1>{&a}, detail::Flat(axis).values());
}
inline Tensor gather_v2(const Tensor& a, const Tensor& b, std::int64_t axis,
                        std::int64_t batch_dims) {
  return apply_one(op_id("GatherV2"), {&a, &b}, detail::Flat(axis, batch_dims).values());
}
inline Tensor gather_nd(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("GatherNd"), {&a, &b}, {});
}
inline Tensor scatter_nd(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("ScatterNd"), {&a, &b}, detail::Flat(shape).values());
}
inline Tensor tensor_scatter_update(const Tensor& a, const Tensor& b, const Tensor& c) {
  return apply_one(op_id("TensorScatterUpdate"), {&a, &b, &c}, {});
}
inline Tensor sparse_to_dense(const Tensor& a, const Tensor& b, const Tensor& c,
                              const std::vector<std::int64_t>& output_shape) {
  return apply_one(op_id("SparseToDense"), {&a, &b, &c}, detail::Flat(output_shape).values());
}
inline Tensor where(const Tensor& a) { return apply_one(op_id("Where"), {&a}, {}); }

}  // namespace ebb::ops
