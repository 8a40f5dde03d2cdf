// What kernels share with their tests on the host.
#pragma once

#include "backends/both.hpp"

namespace ebb::cuda {

using namespace backends;

// Products and sums that are rounded each for itself: on the device a * b + c would become one
// fused operation, which the CPU does not have.
EBB_BOTH double product(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
EBB_BOTH double sum(double a, double b) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(a, b);
#else
  return a + b;
#endif
}
EBB_BOTH float product(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
EBB_BOTH float sum(float a, float b) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

}  // namespace ebb::cuda
