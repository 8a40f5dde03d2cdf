// How much two boxes overlap, in double as JavaScript does. Corners come in any order.
#pragma once

#include "backends/cuda/plugin/kernels/both.cuh"

namespace ebb::cuda {

EBB_BOTH double box_low(const float* box, int axis) {
  return box[axis + 2] < box[axis] ? box[axis + 2] : box[axis];
}
EBB_BOTH double box_high(const float* box, int axis) {
  return box[axis] < box[axis + 2] ? box[axis + 2] : box[axis];
}
EBB_BOTH double box_area(const float* box) {
  return (box_high(box, 0) - box_low(box, 0)) * (box_high(box, 1) - box_low(box, 1));
}
EBB_BOTH double shared_length(const float* a, const float* b, int axis) {
  const double high_a = box_high(a, axis), high_b = box_high(b, axis);
  const double low_a = box_low(a, axis), low_b = box_low(b, axis);
  const double length = (high_b < high_a ? high_b : high_a) - (low_a < low_b ? low_b : low_a);
  return length < 0.0 ? 0.0 : length;
}

EBB_BOTH double intersection_over_union(const float* a, const float* b) {
  const double area_a = box_area(a), area_b = box_area(b);
  if (!(area_a > 0 && area_b > 0)) return 0;
  const double common = product(shared_length(a, b, 0), shared_length(a, b, 1));
  return common / sum(sum(area_a, area_b), -common);
}

}  // namespace ebb::cuda
