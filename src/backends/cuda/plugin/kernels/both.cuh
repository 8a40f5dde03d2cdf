// Code that nvcc compiles for the device and any compiler for the host, so that it can be tested
// without a GPU.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define EBB_BOTH __host__ __device__ __forceinline__
#else
#define EBB_BOTH inline
#endif

namespace ebb::cuda {

// The bits of one type as another of the same size.
template <typename To, typename From>
EBB_BOTH To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

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
