// Data that is moved, joined, cut and repeated as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp movement` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

inline Tensor batch_to_space_nd(const Tensor& x, const std::vector<std::int64_t>& block_shape,
                                const std::vector<std::int64_t>& crops) {
  return apply_one(op_id("BatchToSpaceND"), {&x}, detail::Flat(block_shape, crops).values());
}
inline Tensor space_to_batch_nd(const Tensor& x, const std::vector<std::int64_t>& block_shape,
                                const std::vector<std::int64_t>& paddings) {
  return apply_one(op_id("SpaceToBatchND"), {&x}, detail::Flat(block_shape, paddings).values());
}
inline Tensor broadcast_to(const Tensor& x, const std::vector<std::int64_t>& shape) {
  return apply_one(op_id("BroadcastTo"), {&x}, detail::Flat(shape).values());
}
inline Tensor broadcast_args(const Tensor& s0, const Tensor& s1) {
  return apply_one(op_id("BroadcastArgs"), {&s0, &s1}, {});
}
struct ConcatOptions {
  std::int64_t axis = 0;
};
inline Tensor concat(const std::vector<Tensor>& tensors, const ConcatOptions& options = {}) {
  return apply(op_id("Concat"), detail::pointers(tensors), detail::Flat(options.axis).values())[0];
}
struct DepthToSpaceOptions {
  bool channels_first = false;
};
inline Tensor depth_to_space(const Tensor& x, std::int64_t block_size,
                             const DepthToSpaceOptions& options = {}) {
  return apply_one(op_id("DepthToSpace"), {&x},
                   detail::Flat(block_size, options.channels_first).values());
}
inline Tensor diag(const Tensor& x) { return apply_one(op_id("Diag"), {&x}, {}); }
inline Tensor matrix_band_part(const Tensor& input, const Tensor& num_lower,
                               const Tensor& num_upper) {
  return apply_one(op_id("MatrixBandPart"), {&input, &num_lower, &num_upper}, {});
}
struct MirrorPadOptions {
  MirrorMode mode = MirrorMode::kReflect;
};
inline Tensor mirror_pad(const Tensor& x, const std::vector<std::int64_t>& paddings,
                         const MirrorPadOptions& options = {}) {
  return apply_one(op_id("MirrorPad"), {&x}, detail::Flat(paddings, options.mode).values());
}
struct PackOptions {
  std::int64_t axis = 0;
};
inline Tensor pack(const std::vector<Tensor>& tensors, const PackOptions& options = {}) {
  return apply(op_id("Pack"), detail::pointers(tensors), detail::Flat(options.axis).values())[0];
}
struct PadV2Options {
  double constant_value = 0;
};
inline Tensor pad_v2(const Tensor& x, const std::vector<std::int64_t>& paddings,
                     const PadV2Options& options = {}) {
  return apply_one(op_id("PadV2"), {&x}, detail::Flat(paddings, options.constant_value).values());
}
inline Tensor reverse(const Tensor& x, const std::vector<std::int64_t>& dims) {
  return apply_one(op_id("Reverse"), {&x}, detail::Flat(dims).values());
}
struct SplitVOptions {
  std::int64_t axis = 0;
};
inline std::vector<Tensor> split_v(const Tensor& x, const std::vector<std::int64_t>& size_splits,
                                   const SplitVOptions& options = {}) {
  return apply(op_id("SplitV"), detail::pointers(x),
               detail::Flat(size_splits, options.axis).values());
}
inline Tensor strided_slice(const Tensor& x, const std::vector<std::int64_t>& begin,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& size) {
  return apply_one(op_id("StridedSlice"), {&x}, detail::Flat(begin, strides, size).values());
}
inline Tensor tile(const Tensor& x, const std::vector<std::int64_t>& reps) {
  return apply_one(op_id("Tile"), {&x}, detail::Flat(reps).values());
}
struct UnpackOptions {
  std::int64_t axis = 0;
};
inline std::vector<Tensor> unpack(const Tensor& value, const UnpackOptions& options = {}) {
  return apply(op_id("Unpack"), detail::pointers(value), detail::Flat(options.axis).values());
}

}  // namespace ebb::ops
