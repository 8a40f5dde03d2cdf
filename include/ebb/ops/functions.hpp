// Every operation of the table as a function, in its order. Printed by `ebb_print_ops
// --cpp` and formatted; a test fails where it is not what the table says. Inputs are
// a, b, ... as the table has them; a Tensor that is none leaves an optional one out.
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
inline Tensor fill(const std::vector<std::int64_t>& shape, double value, DType dtype) {
  return apply_one(op_id("Fill"), {}, detail::Flat(shape, value, dtype).values());
}
inline Tensor lin_space(double start, double stop, std::int64_t num) {
  return apply_one(op_id("LinSpace"), {}, detail::Flat(start, stop, num).values());
}
inline Tensor range(double start, double stop, double step, DType dtype) {
  return apply_one(op_id("Range"), {}, detail::Flat(start, stop, step, dtype).values());
}
inline Tensor one_hot(const Tensor& a, std::int64_t depth, double on_value, double off_value,
                      DType dtype) {
  return apply_one(op_id("OneHot"), {&a}, detail::Flat(depth, on_value, off_value, dtype).values());
}
inline Tensor ones_like(const Tensor& a) { return apply_one(op_id("OnesLike"), {&a}, {}); }
inline Tensor zeros_like(const Tensor& a) { return apply_one(op_id("ZerosLike"), {&a}, {}); }
inline Tensor eye(std::int64_t rows, std::int64_t columns, DType dtype) {
  return apply_one(op_id("Eye"), {}, detail::Flat(rows, columns, dtype).values());
}
inline Tensor random_uniform(const std::vector<std::int64_t>& shape, double low, double high,
                             DType dtype, double seed) {
  return apply_one(op_id("RandomUniform"), {},
                   detail::Flat(shape, low, high, dtype, seed).values());
}
inline Tensor random_normal(const std::vector<std::int64_t>& shape, double mean,
                            double standard_deviation, DType dtype, bool truncated, double seed) {
  return apply_one(op_id("RandomNormal"), {},
                   detail::Flat(shape, mean, standard_deviation, dtype, truncated, seed).values());
}
inline Tensor multinomial(const Tensor& a, std::int64_t num_samples, double seed, bool normalized) {
  return apply_one(op_id("Multinomial"), {&a},
                   detail::Flat(num_samples, seed, normalized).values());
}
inline Tensor complex(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("Complex"), {&a, &b}, {});
}
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
inline Tensor all(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("All"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor any(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Any"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor arg_max(const Tensor& a, std::int64_t axis) {
  return apply_one(op_id("ArgMax"), {&a}, detail::Flat(axis).values());
}
inline Tensor arg_min(const Tensor& a, std::int64_t axis) {
  return apply_one(op_id("ArgMin"), {&a}, detail::Flat(axis).values());
}
inline Tensor max(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Max"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor mean(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Mean"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor min(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Min"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor prod(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Prod"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor sum(const Tensor& a, const std::vector<std::int64_t>& axes, bool keep_dims) {
  return apply_one(op_id("Sum"), {&a}, detail::Flat(axes, keep_dims).values());
}
inline Tensor cumprod(const Tensor& a, std::int64_t axis, bool exclusive, bool reverse) {
  return apply_one(op_id("Cumprod"), {&a}, detail::Flat(axis, exclusive, reverse).values());
}
inline Tensor cumsum(const Tensor& a, std::int64_t axis, bool exclusive, bool reverse) {
  return apply_one(op_id("Cumsum"), {&a}, detail::Flat(axis, exclusive, reverse).values());
}
inline Tensor bincount(const Tensor& a, const Tensor& b, std::int64_t size) {
  return apply_one(op_id("Bincount"), {&a, &b}, detail::Flat(size).values());
}
inline Tensor dense_bincount(const Tensor& a, const Tensor& b, std::int64_t size,
                             bool binary_output) {
  return apply_one(op_id("DenseBincount"), {&a, &b}, detail::Flat(size, binary_output).values());
}
inline Tensor unsorted_segment_sum(const Tensor& a, const Tensor& b, std::int64_t num_segments) {
  return apply_one(op_id("UnsortedSegmentSum"), {&a, &b}, detail::Flat(num_segments).values());
}
inline std::vector<Tensor> top_k(const Tensor& a, std::int64_t k, bool sorted) {
  return apply(op_id("TopK"), std::array<const Tensor*, 1>{&a}, detail::Flat(k, sorted).values());
}
inline std::vector<Tensor> unique(const Tensor& a, std::int64_t axis) {
  return apply(op_id("Unique"), std::array<const Tensor*, 1>{&a}, detail::Flat(axis).values());
}
inline Tensor lower_bound(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("LowerBound"), {&a, &b}, {});
}
inline Tensor upper_bound(const Tensor& a, const Tensor& b) {
  return apply_one(op_id("UpperBound"), {&a, &b}, {});
}
inline Tensor search_sorted(const Tensor& a, const Tensor& b, bool right) {
  return apply_one(op_id("SearchSorted"), {&a, &b}, detail::Flat(right).values());
}
inline Tensor crop_and_resize(const Tensor& a, const Tensor& b, const Tensor& c,
                              const std::vector<std::int64_t>& crop_size, std::int64_t method,
                              double extrapolation_value) {
  return apply_one(op_id("CropAndResize"), {&a, &b, &c},
                   detail::Flat(crop_size, method, extrapolation_value).values());
}
inline Tensor flip_left_right(const Tensor& a) {
  return apply_one(op_id("FlipLeftRight"), {&a}, {});
}
inline Tensor resize_bilinear(const Tensor& a, const std::vector<std::int64_t>& size,
                              bool align_corners, bool half_pixel_centers) {
  return apply_one(op_id("ResizeBilinear"), {&a},
                   detail::Flat(size, align_corners, half_pixel_centers).values());
}
inline Tensor resize_bilinear_grad(const Tensor& a, const Tensor& b, bool align_corners) {
  return apply_one(op_id("ResizeBilinearGrad"), {&a, &b}, detail::Flat(align_corners).values());
}
inline Tensor resize_nearest_neighbor(const Tensor& a, const std::vector<std::int64_t>& size,
                                      bool align_corners, bool half_pixel_centers) {
  return apply_one(op_id("ResizeNearestNeighbor"), {&a},
                   detail::Flat(size, align_corners, half_pixel_centers).values());
}
inline Tensor resize_nearest_neighbor_grad(const Tensor& a, const Tensor& b, bool align_corners) {
  return apply_one(op_id("ResizeNearestNeighborGrad"), {&a, &b},
                   detail::Flat(align_corners).values());
}
inline Tensor rotate_with_offset(const Tensor& a, double radians,
                                 const std::vector<double>& fill_value,
                                 const std::vector<double>& center) {
  return apply_one(op_id("RotateWithOffset"), {&a},
                   detail::Flat(radians, fill_value, center).values());
}
inline Tensor transform(const Tensor& a, const Tensor& b, std::int64_t interpolation,
                        std::int64_t fill_mode, double fill_value,
                        const std::vector<std::int64_t>& output_shape) {
  return apply_one(op_id("Transform"), {&a, &b},
                   detail::Flat(interpolation, fill_mode, fill_value, output_shape).values());
}
inline Tensor non_max_suppression_v3(const Tensor& a, const Tensor& b, std::int64_t max_output_size,
                                     double iou_threshold, double score_threshold) {
  return apply_one(op_id("NonMaxSuppressionV3"), {&a, &b},
                   detail::Flat(max_output_size, iou_threshold, score_threshold).values());
}
inline std::vector<Tensor> non_max_suppression_v4(const Tensor& a, const Tensor& b,
                                                  std::int64_t max_output_size,
                                                  double iou_threshold, double score_threshold,
                                                  bool pad_to_max_output_size) {
  return apply(op_id("NonMaxSuppressionV4"), std::array<const Tensor*, 2>{&a, &b},
               detail::Flat(max_output_size, iou_threshold, score_threshold, pad_to_max_output_size)
                   .values());
}
inline std::vector<Tensor> non_max_suppression_v5(const Tensor& a, const Tensor& b,
                                                  std::int64_t max_output_size,
                                                  double iou_threshold, double score_threshold,
                                                  double soft_nms_sigma) {
  return apply(
      op_id("NonMaxSuppressionV5"), std::array<const Tensor*, 2>{&a, &b},
      detail::Flat(max_output_size, iou_threshold, score_threshold, soft_nms_sigma).values());
}
inline Tensor fft(const Tensor& a) { return apply_one(op_id("FFT"), {&a}, {}); }
inline Tensor ifft(const Tensor& a) { return apply_one(op_id("IFFT"), {&a}, {}); }
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
inline Tensor batch_mat_mul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  return apply_one(op_id("BatchMatMul"), {&a, &b}, detail::Flat(transpose_a, transpose_b).values());
}
inline Tensor fused_mat_mul(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                            bool transpose_a, bool transpose_b, std::int64_t activation,
                            double leakyrelu_alpha) {
  return apply_one(op_id("_FusedMatMul"), {&a, &b, &c, &d},
                   detail::Flat(transpose_a, transpose_b, activation, leakyrelu_alpha).values());
}
inline Tensor conv2d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                     const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilations,
                     const std::vector<std::int64_t>& output_size, bool channels_first) {
  return apply_one(op_id("Conv2D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size, channels_first).values());
}
inline Tensor fused_conv2d(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                           const std::vector<std::int64_t>& strides,
                           const std::vector<std::int64_t>& pads,
                           const std::vector<std::int64_t>& dilations,
                           const std::vector<std::int64_t>& output_size, bool channels_first,
                           std::int64_t activation, double leakyrelu_alpha) {
  return apply_one(op_id("FusedConv2D"), {&a, &b, &c, &d},
                   detail::Flat(strides, pads, dilations, output_size, channels_first, activation,
                                leakyrelu_alpha)
                       .values());
}
inline Tensor conv2d_backprop_filter(const Tensor& a, const Tensor& b,
                                     const std::vector<std::int64_t>& strides,
                                     const std::vector<std::int64_t>& pads,
                                     const std::vector<std::int64_t>& dilations,
                                     bool channels_first,
                                     const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("Conv2DBackpropFilter"), {&a, &b},
                   detail::Flat(strides, pads, dilations, channels_first, filter_shape).values());
}
inline Tensor conv2d_backprop_input(const Tensor& a, const Tensor& b,
                                    const std::vector<std::int64_t>& strides,
                                    const std::vector<std::int64_t>& pads,
                                    const std::vector<std::int64_t>& dilations, bool channels_first,
                                    const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("Conv2DBackpropInput"), {&a, &b},
                   detail::Flat(strides, pads, dilations, channels_first, input_shape).values());
}
inline Tensor depthwise_conv2d_native(const Tensor& a, const Tensor& b,
                                      const std::vector<std::int64_t>& strides,
                                      const std::vector<std::int64_t>& pads,
                                      const std::vector<std::int64_t>& dilations,
                                      const std::vector<std::int64_t>& output_size,
                                      bool channels_first) {
  return apply_one(op_id("DepthwiseConv2dNative"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size, channels_first).values());
}
inline Tensor fused_depthwise_conv2d(const Tensor& a, const Tensor& b, const Tensor& c,
                                     const Tensor& d, const std::vector<std::int64_t>& strides,
                                     const std::vector<std::int64_t>& pads,
                                     const std::vector<std::int64_t>& dilations,
                                     const std::vector<std::int64_t>& output_size,
                                     bool channels_first, std::int64_t activation,
                                     double leakyrelu_alpha) {
  return apply_one(op_id("FusedDepthwiseConv2D"), {&a, &b, &c, &d},
                   detail::Flat(strides, pads, dilations, output_size, channels_first, activation,
                                leakyrelu_alpha)
                       .values());
}
inline Tensor depthwise_conv2d_native_backprop_filter(
    const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
    const std::vector<std::int64_t>& pads, const std::vector<std::int64_t>& dilations,
    const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("DepthwiseConv2dNativeBackpropFilter"), {&a, &b},
                   detail::Flat(strides, pads, dilations, filter_shape).values());
}
inline Tensor depthwise_conv2d_native_backprop_input(const Tensor& a, const Tensor& b,
                                                     const std::vector<std::int64_t>& strides,
                                                     const std::vector<std::int64_t>& pads,
                                                     const std::vector<std::int64_t>& dilations,
                                                     const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("DepthwiseConv2dNativeBackpropInput"), {&a, &b},
                   detail::Flat(strides, pads, dilations, input_shape).values());
}
inline Tensor conv3d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                     const std::vector<std::int64_t>& pads,
                     const std::vector<std::int64_t>& dilations,
                     const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("Conv3D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size).values());
}
inline Tensor conv3d_backprop_filter_v2(const Tensor& a, const Tensor& b,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::int64_t>& pads,
                                        const std::vector<std::int64_t>& dilations,
                                        const std::vector<std::int64_t>& filter_shape) {
  return apply_one(op_id("Conv3DBackpropFilterV2"), {&a, &b},
                   detail::Flat(strides, pads, dilations, filter_shape).values());
}
inline Tensor conv3d_backprop_input_v2(const Tensor& a, const Tensor& b,
                                       const std::vector<std::int64_t>& strides,
                                       const std::vector<std::int64_t>& pads,
                                       const std::vector<std::int64_t>& dilations,
                                       const std::vector<std::int64_t>& input_shape) {
  return apply_one(op_id("Conv3DBackpropInputV2"), {&a, &b},
                   detail::Flat(strides, pads, dilations, input_shape).values());
}
inline Tensor dilation2d(const Tensor& a, const Tensor& b, const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("Dilation2D"), {&a, &b},
                   detail::Flat(strides, pads, dilations, output_size).values());
}
inline Tensor dilation2d_backprop_filter(const Tensor& a, const Tensor& b, const Tensor& c,
                                         const std::vector<std::int64_t>& strides,
                                         const std::vector<std::int64_t>& pads,
                                         const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("Dilation2DBackpropFilter"), {&a, &b, &c},
                   detail::Flat(strides, pads, dilations).values());
}
inline Tensor dilation2d_backprop_input(const Tensor& a, const Tensor& b, const Tensor& c,
                                        const std::vector<std::int64_t>& strides,
                                        const std::vector<std::int64_t>& pads,
                                        const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("Dilation2DBackpropInput"), {&a, &b, &c},
                   detail::Flat(strides, pads, dilations).values());
}
inline Tensor avg_pool(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& pads,
                       const std::vector<std::int64_t>& dilations,
                       const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("AvgPool"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor avg_pool_grad(const Tensor& a, const Tensor& b,
                            const std::vector<std::int64_t>& filter_size,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& pads,
                            const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("AvgPoolGrad"), {&a, &b},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor avg_pool3d(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                         const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("AvgPool3D"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor avg_pool3d_grad(const Tensor& a, const Tensor& b,
                              const std::vector<std::int64_t>& filter_size,
                              const std::vector<std::int64_t>& strides,
                              const std::vector<std::int64_t>& pads,
                              const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("AvgPool3DGrad"), {&a, &b},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor max_pool(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                       const std::vector<std::int64_t>& strides,
                       const std::vector<std::int64_t>& pads,
                       const std::vector<std::int64_t>& dilations,
                       const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("MaxPool"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor max_pool_grad(const Tensor& a, const Tensor& b, const Tensor& c,
                            const std::vector<std::int64_t>& filter_size,
                            const std::vector<std::int64_t>& strides,
                            const std::vector<std::int64_t>& pads,
                            const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("MaxPoolGrad"), {&a, &b, &c},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline Tensor max_pool3d(const Tensor& a, const std::vector<std::int64_t>& filter_size,
                         const std::vector<std::int64_t>& strides,
                         const std::vector<std::int64_t>& pads,
                         const std::vector<std::int64_t>& dilations,
                         const std::vector<std::int64_t>& output_size) {
  return apply_one(op_id("MaxPool3D"), {&a},
                   detail::Flat(filter_size, strides, pads, dilations, output_size).values());
}
inline Tensor max_pool3d_grad(const Tensor& a, const Tensor& b, const Tensor& c,
                              const std::vector<std::int64_t>& filter_size,
                              const std::vector<std::int64_t>& strides,
                              const std::vector<std::int64_t>& pads,
                              const std::vector<std::int64_t>& dilations) {
  return apply_one(op_id("MaxPool3DGrad"), {&a, &b, &c},
                   detail::Flat(filter_size, strides, pads, dilations).values());
}
inline std::vector<Tensor> max_pool_with_argmax(const Tensor& a,
                                                const std::vector<std::int64_t>& filter_size,
                                                const std::vector<std::int64_t>& strides,
                                                const std::vector<std::int64_t>& pads,
                                                const std::vector<std::int64_t>& dilations,
                                                const std::vector<std::int64_t>& output_size,
                                                bool include_batch_in_index) {
  return apply(
      op_id("MaxPoolWithArgmax"), std::array<const Tensor*, 1>{&a},
      detail::Flat(filter_size, strides, pads, dilations, output_size, include_batch_in_index)
          .values());
}
inline Tensor fused_batch_norm(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d,
                               const Tensor& e, double variance_epsilon) {
  return apply_one(op_id("FusedBatchNorm"), {&a, &b, &c, &d, &e},
                   detail::Flat(variance_epsilon).values());
}
inline Tensor lrn(const Tensor& a, std::int64_t depth_radius, double bias, double alpha,
                  double beta) {
  return apply_one(op_id("LRN"), {&a}, detail::Flat(depth_radius, bias, alpha, beta).values());
}
inline Tensor lrn_grad(const Tensor& a, const Tensor& b, const Tensor& c, std::int64_t depth_radius,
                       double bias, double alpha, double beta) {
  return apply_one(op_id("LRNGrad"), {&a, &b, &c},
                   detail::Flat(depth_radius, bias, alpha, beta).values());
}
inline Tensor softmax(const Tensor& a, std::int64_t dim) {
  return apply_one(op_id("Softmax"), {&a}, detail::Flat(dim).values());
}
inline Tensor log_softmax(const Tensor& a, std::int64_t axis) {
  return apply_one(op_id("LogSoftmax"), {&a}, detail::Flat(axis).values());
}

}  // namespace ebb::ops
