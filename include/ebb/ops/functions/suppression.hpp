// Boxes, of which those that overlap are left out as functions, in the table's order.
//
// Printed by `ebb_print_ops --cpp suppression` and formatted; a test fails where it is not
// what the table says. What has a default is among the options:
//   conv2d(x, filter, {.strides = {2, 2}})
#pragma once

#include <limits>
#include <vector>

#include "ebb/ops/flat.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::ops {

struct NonMaxSuppressionV3Options {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
};
inline Tensor non_max_suppression_v3(const Tensor& boxes, const Tensor& scores,
                                     std::int64_t max_output_size,
                                     const NonMaxSuppressionV3Options& options = {}) {
  return apply_one(
      op_id("NonMaxSuppressionV3"), {&boxes, &scores},
      detail::Flat(max_output_size, options.iou_threshold, options.score_threshold).values());
}
struct NonMaxSuppressionV4Options {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  bool pad_to_max_output_size = false;
};
inline std::vector<Tensor> non_max_suppression_v4(const Tensor& boxes, const Tensor& scores,
                                                  std::int64_t max_output_size,
                                                  const NonMaxSuppressionV4Options& options = {}) {
  return apply(op_id("NonMaxSuppressionV4"), detail::pointers(boxes, scores),
               detail::Flat(max_output_size, options.iou_threshold, options.score_threshold,
                            options.pad_to_max_output_size)
                   .values());
}
struct NonMaxSuppressionV5Options {
  double iou_threshold = 0.5;
  double score_threshold = -std::numeric_limits<double>::infinity();
  double soft_nms_sigma = 0;
};
inline std::vector<Tensor> non_max_suppression_v5(const Tensor& boxes, const Tensor& scores,
                                                  std::int64_t max_output_size,
                                                  const NonMaxSuppressionV5Options& options = {}) {
  return apply(op_id("NonMaxSuppressionV5"), detail::pointers(boxes, scores),
               detail::Flat(max_output_size, options.iou_threshold, options.score_threshold,
                            options.soft_nms_sigma)
                   .values());
}

}  // namespace ebb::ops
