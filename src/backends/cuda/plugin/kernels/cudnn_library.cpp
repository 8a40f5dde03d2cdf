#include "backends/cuda/plugin/kernels/cudnn_library.hpp"

#include <cstdio>
#include <string>

#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/libraries.hpp"

namespace ebb::cuda {
namespace {

const CudnnFunctions* load() {
  try {
    auto* made = new CudnnFunctions;
#define EBB_CUDNN_FIND(name) \
  made->name = reinterpret_cast<decltype(made->name)>(cudnn().find("cudnn" #name));
    EBB_CUDNN_FUNCTIONS(EBB_CUDNN_FIND)
#undef EBB_CUDNN_FIND
    return made;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "[ebb] cuda: convolutions run on Ebb's own kernels alone: %s\n",
                 failure.text.c_str());
    return nullptr;
  }
}

}  // namespace

const CudnnFunctions* cudnn_functions() {
  static const CudnnFunctions* const loaded = load();
  return loaded;
}

CudnnHandles::~CudnnHandles() {
  for (cudnnHandle_t handle : free_) cudnn_functions()->Destroy(handle);
}

cudnnHandle_t CudnnHandles::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      cudnnHandle_t handle = free_.back();
      free_.pop_back();
      return handle;
    }
  }
  cudnnHandle_t handle = nullptr;
  check_cudnn(cudnn_functions()->Create(&handle), "a handle");
  return handle;
}

void CudnnHandles::give(cudnnHandle_t handle) {
  const std::lock_guard lock(mutex_);
  free_.push_back(handle);
}

CudnnHandle::CudnnHandle(DeviceState& device, cudaStream_t stream)
    : handles_(device.part<CudnnHandles>()), handle_(handles_.take()) {
  const cudnnStatus_t status = cudnn_functions()->SetStream(handle_, stream);
  if (status == CUDNN_STATUS_SUCCESS) return;
  handles_.give(handle_);
  check_cudnn(status, "a stream");
}

void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  // A launch that failed may be an error of the device that stays.
  check(cudaGetLastError(), what);
  throw Failure{EBB_CUDA_FAILED, "[cuDNN] " + std::string(what) +
                                     " was refused: " + cudnn_functions()->GetErrorString(status)};
}

}  // namespace ebb::cuda
