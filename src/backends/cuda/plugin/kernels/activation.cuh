// The activations of fused operations, as the CPU's kernels have them: NaN stays NaN.
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/cuda/plugin/kernels/both.cuh"
#include "ops/params/fused.hpp"

namespace ebb::cuda {

EBB_BOTH float activated(ops::Activation activation, float x, float alpha, float slope) {
  switch (activation) {
    case ops::Activation::kRelu:
      return x < 0.0F ? 0.0F : x;
    case ops::Activation::kRelu6:
      return x > 6.0F ? 6.0F : (x < 0.0F ? 0.0F : x);
    case ops::Activation::kElu:
      return x < 0.0F ? expm1f(x) : x;
    case ops::Activation::kPrelu:
      return x < 0.0F ? x * slope : x;
    case ops::Activation::kLeakyrelu:
      return x < 0.0F ? x * alpha : x;
    case ops::Activation::kSigmoid:
      return x != x ? x : 1.0F / (1.0F + expf(-x));
    case ops::Activation::kLinear:
      break;
  }
  return x;
}

}  // namespace ebb::cuda
