// Plans of elementwise kernels, from the shapes and strides of a call's operands.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/loops.cuh"

namespace ebb::cuda {

// The step of an operand along an axis of the output, counted from the last: 0 where it is
// broadcast.
inline std::int64_t step_along(const ebb_cuda_tensor& tensor, std::uint32_t from_end) {
  if (from_end > tensor.rank) return 0;
  const std::uint32_t axis = tensor.rank - from_end;
  return tensor.dims[axis] == 1 ? 0 : tensor.strides[axis];
}

// The operands along the output's axes; what lies alike is one axis.
template <int kOperands>
Plan<kOperands> elementwise_plan(const ebb_cuda_tensor& out,
                                 const ebb_cuda_tensor* const (&operands)[kOperands]) {
  Plan<kOperands> plan;
  for (std::uint32_t from_end = 1; from_end <= out.rank; ++from_end) {
    std::int64_t steps[kOperands];
    for (int k = 0; k < kOperands; ++k) steps[k] = step_along(*operands[k], from_end);
    plan.add_outer(out.dims[out.rank - from_end], steps);
  }
  plan.reverse();
  return plan;
}

// Dense and as long as `count`: its elements lie as they are counted.
inline bool lies_flat(const ebb_cuda_tensor& tensor, std::int64_t count) {
  return tensor.dense != 0 && elements(tensor) == count;
}

template <typename T>
bool aligned(const void* pointer) {
  return (reinterpret_cast<std::uintptr_t>(pointer) & (sizeof(T) - 1)) == 0;
}

// `count` T's that are read and written as one.
template <typename T, int count>
struct alignas(sizeof(T) * count) Pack {
  T element[count];
};

// Whether every load of `width` T's would be aligned, and within a row. An operand whose inner step
// is 0 is repeated instead.
template <typename T, int width, int kOperands>
bool lies_in_packs(const Plan<kOperands>& plan, const void* const (&from)[kOperands]) {
  const int inner = plan.axes - 1;
  if (inner < 0 || plan.extent[inner] % width != 0) return false;
  for (int k = 0; k < kOperands; ++k) {
    if (plan.step[k][inner] == 0) continue;
    if (plan.step[k][inner] != 1 || !aligned<Pack<T, width>>(from[k])) return false;
    for (int i = 0; i < inner; ++i) {
      if (plan.step[k][i] % width != 0) return false;
    }
  }
  return true;
}

// A plan of elements as one of packs.
template <int kOperands>
Plan<kOperands> in_packs(Plan<kOperands> plan, int width) {
  const int inner = plan.axes - 1;
  plan.extent[inner] /= width;
  for (auto& step : plan.step) step[inner] *= width;
  return plan;
}

}  // namespace ebb::cuda
