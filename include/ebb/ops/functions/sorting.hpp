// Sorting and searching as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp sorting` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct TopKOptions {
  bool sorted = true;
};
inline std::vector<Tensor> top_k(const Tensor& x, std::int64_t k, const TopKOptions& options = {}) {
  return apply(op_id("TopK"), detail::pointers(x), detail::Flat(k, options.sorted).values());
}
struct UniqueOptions {
  std::int64_t axis = 0;
};
inline std::vector<Tensor> unique(const Tensor& x, const UniqueOptions& options = {}) {
  return apply(op_id("Unique"), detail::pointers(x), detail::Flat(options.axis).values());
}
inline Tensor lower_bound(const Tensor& sorted_sequence, const Tensor& values) {
  return apply_one(op_id("LowerBound"), {&sorted_sequence, &values}, {});
}
inline Tensor upper_bound(const Tensor& sorted_sequence, const Tensor& values) {
  return apply_one(op_id("UpperBound"), {&sorted_sequence, &values}, {});
}
struct SearchSortedOptions {
  bool right = false;
};
inline Tensor search_sorted(const Tensor& sorted_sequence, const Tensor& values,
                            const SearchSortedOptions& options = {}) {
  return apply_one(op_id("SearchSorted"), {&sorted_sequence, &values},
                   detail::Flat(options.right).values());
}

}  // namespace ebb::ops
