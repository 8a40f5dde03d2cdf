// Reductions, scans and counts as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp reductions` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct AllOptions {
  bool keep_dims = false;
};
inline Tensor all(const Tensor& x, const std::vector<std::int64_t>& axes,
                  const AllOptions& options = {}) {
  return apply_one(op_id("All"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct AnyOptions {
  bool keep_dims = false;
};
inline Tensor any(const Tensor& x, const std::vector<std::int64_t>& axes,
                  const AnyOptions& options = {}) {
  return apply_one(op_id("Any"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct ArgMaxOptions {
  std::int64_t axis = 0;
};
inline Tensor arg_max(const Tensor& x, const ArgMaxOptions& options = {}) {
  return apply_one(op_id("ArgMax"), {&x}, detail::Flat(options.axis).values());
}
struct ArgMinOptions {
  std::int64_t axis = 0;
};
inline Tensor arg_min(const Tensor& x, const ArgMinOptions& options = {}) {
  return apply_one(op_id("ArgMin"), {&x}, detail::Flat(options.axis).values());
}
struct MaxOptions {
  bool keep_dims = false;
};
inline Tensor max(const Tensor& x, const std::vector<std::int64_t>& axes,
                  const MaxOptions& options = {}) {
  return apply_one(op_id("Max"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct MeanOptions {
  bool keep_dims = false;
};
inline Tensor mean(const Tensor& x, const std::vector<std::int64_t>& axes,
                   const MeanOptions& options = {}) {
  return apply_one(op_id("Mean"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct MinOptions {
  bool keep_dims = false;
};
inline Tensor min(const Tensor& x, const std::vector<std::int64_t>& axes,
                  const MinOptions& options = {}) {
  return apply_one(op_id("Min"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct ProdOptions {
  bool keep_dims = false;
};
inline Tensor prod(const Tensor& x, const std::vector<std::int64_t>& axes,
                   const ProdOptions& options = {}) {
  return apply_one(op_id("Prod"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct SumOptions {
  bool keep_dims = false;
};
inline Tensor sum(const Tensor& x, const std::vector<std::int64_t>& axes,
                  const SumOptions& options = {}) {
  return apply_one(op_id("Sum"), {&x}, detail::Flat(axes, options.keep_dims).values());
}
struct CumprodOptions {
  std::int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
};
inline Tensor cumprod(const Tensor& x, const CumprodOptions& options = {}) {
  return apply_one(op_id("Cumprod"), {&x},
                   detail::Flat(options.axis, options.exclusive, options.reverse).values());
}
struct CumsumOptions {
  std::int64_t axis = 0;
  bool exclusive = false;
  bool reverse = false;
};
inline Tensor cumsum(const Tensor& x, const CumsumOptions& options = {}) {
  return apply_one(op_id("Cumsum"), {&x},
                   detail::Flat(options.axis, options.exclusive, options.reverse).values());
}
inline Tensor bincount(const Tensor& x, const Tensor& weights, std::int64_t size) {
  return apply_one(op_id("Bincount"), {&x, &weights}, detail::Flat(size).values());
}
struct DenseBincountOptions {
  bool binary_output = false;
};
inline Tensor dense_bincount(const Tensor& x, const Tensor& weights, std::int64_t size,
                             const DenseBincountOptions& options = {}) {
  return apply_one(op_id("DenseBincount"), {&x, &weights},
                   detail::Flat(size, options.binary_output).values());
}
inline Tensor unsorted_segment_sum(const Tensor& x, const Tensor& segment_ids,
                                   std::int64_t num_segments) {
  return apply_one(op_id("UnsortedSegmentSum"), {&x, &segment_ids},
                   detail::Flat(num_segments).values());
}

}  // namespace ebb::ops
