// Code that nvcc compiles for the device and any compiler for the host: the CPU's kernels and the
// GPU's share it, and it can be tested without a GPU.
#pragma once

#include <cstring>

#ifdef __CUDACC__
#define EBB_BOTH __host__ __device__ __forceinline__
#else
#define EBB_BOTH inline
#endif

namespace ebb::backends {

// The bits of one type as another of the same size.
template <typename To, typename From>
EBB_BOTH To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace ebb::backends
