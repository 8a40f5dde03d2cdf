// cuDNN 9's functions, opened with the first convolution.
#pragma once

#include <cudnn.h>

#include <mutex>
#include <vector>

namespace ebb::cuda {

class DeviceState;

// clang-format off
#define EBB_CUDNN_FUNCTIONS(use)                \
  use(Create)                                   \
  use(Destroy)                                  \
  use(SetStream)                                \
  use(GetErrorString)                           \
  use(CreateTensorDescriptor)                   \
  use(SetTensorNdDescriptorEx)                  \
  use(DestroyTensorDescriptor)                  \
  use(CreateFilterDescriptor)                   \
  use(SetFilterNdDescriptor)                    \
  use(DestroyFilterDescriptor)                  \
  use(CreateConvolutionDescriptor)              \
  use(SetConvolutionNdDescriptor)               \
  use(SetConvolutionMathType)                   \
  use(DestroyConvolutionDescriptor)             \
  use(GetConvolutionForwardAlgorithm_v7)        \
  use(GetConvolutionBackwardDataAlgorithm_v7)   \
  use(GetConvolutionBackwardFilterAlgorithm_v7) \
  use(ConvolutionForward)                       \
  use(ConvolutionBackwardData)                  \
  use(ConvolutionBackwardFilter)
// clang-format on

struct CudnnFunctions {
#define EBB_CUDNN_MEMBER(name) decltype(&::cudnn##name) name = nullptr;
  EBB_CUDNN_FUNCTIONS(EBB_CUDNN_MEMBER)
#undef EBB_CUDNN_MEMBER
};

// Null: the library is not there, which is said once on stderr.
const CudnnFunctions* cudnn_functions();

// A device's handles (DeviceState::part) that nobody uses at the moment. Pre: the library is there.
class CudnnHandles {
 public:
  explicit CudnnHandles(DeviceState&) {}
  ~CudnnHandles();
  CudnnHandles(const CudnnHandles&) = delete;
  CudnnHandles& operator=(const CudnnHandles&) = delete;

  // Throws Failure.
  cudnnHandle_t take();
  void give(cudnnHandle_t handle);

 private:
  std::mutex mutex_;
  std::vector<cudnnHandle_t> free_;
};

// A handle for the length of a scope: only one thread may use one at a time.
class CudnnHandle {
 public:
  // Throws Failure.
  CudnnHandle(DeviceState& device, cudaStream_t stream);
  ~CudnnHandle() { handles_.give(handle_); }
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  operator cudnnHandle_t() const noexcept { return handle_; }

 private:
  CudnnHandles& handles_;
  cudnnHandle_t handle_;
};

// Throws Failure.
void check_cudnn(cudnnStatus_t status, const char* what);

}  // namespace ebb::cuda
