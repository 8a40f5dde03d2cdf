// Functions of the driver's library. The runtime finds it; nothing here links it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {

template <typename Function>
Function* driver_function(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  constexpr unsigned int kVersion = 12000;
  check(cudaGetDriverEntryPointByVersion(name, &found, kVersion, cudaEnableDefault, &result),
        "asking the driver for a function");
  if (result != cudaDriverEntryPointSuccess) {
    throw Failure{EBB_CUDA_MISSING, std::string("the driver has no ") + name +
                                        "; a newer one from nvidia.com/drivers has"};
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace ebb::cuda
