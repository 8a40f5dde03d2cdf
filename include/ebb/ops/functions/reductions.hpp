// Reductions, scans, sorting and searching as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp reductions` and formatted; a test fails where it is not
// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is
// none leaves an optional one out.
#pragma once

#include <array>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

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

}  // namespace ebb::ops
