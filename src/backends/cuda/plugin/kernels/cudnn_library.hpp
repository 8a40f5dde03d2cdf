// cuDNN 9, opened with the first convolution.
#pragma once

#include <cudnn.h>

#include <string>

namespace ebb::cuda {

#define EBB_CUDNN_FUNCTIONS(use)                                                                   \
  use(Create) use(SetStream) use(GetErrorString) use(CreateTensorDescriptor)                       \
      use(SetTensorNdDescriptorEx) use(DestroyTensorDescriptor) use(CreateFilterDescriptor)        \
          use(SetFilterNdDescriptor) use(DestroyFilterDescriptor) use(CreateConvolutionDescriptor) \
              use(SetConvolutionNdDescriptor) use(SetConvolutionMathType)                          \
                  use(DestroyConvolutionDescriptor) use(GetConvolutionForwardAlgorithm_v7)         \
                      use(GetConvolutionBackwardDataAlgorithm_v7)                                  \
                          use(GetConvolutionBackwardFilterAlgorithm_v7) use(ConvolutionForward)    \
                              use(ConvolutionBackwardData) use(ConvolutionBackwardFilter)

struct CudnnLibrary {
#define EBB_CUDNN_MEMBER(name) decltype(&::cudnn##name) name = nullptr;
  EBB_CUDNN_FUNCTIONS(EBB_CUDNN_MEMBER)
#undef EBB_CUDNN_MEMBER
};

// Null: not there; says so once on stderr, and why_no_cudnn() has the reason.
const CudnnLibrary* cudnn();
const std::string& why_no_cudnn();

// A handle of a device for the length of a scope: only one thread may use one at a time.
// Pre: cudnn() is there.
class CudnnHandle {
 public:
  // Throws Failure.
  CudnnHandle(int ordinal, cudaStream_t stream);
  ~CudnnHandle();
  CudnnHandle(const CudnnHandle&) = delete;
  CudnnHandle& operator=(const CudnnHandle&) = delete;
  operator cudnnHandle_t() const noexcept { return handle_; }

 private:
  int ordinal_;
  cudnnHandle_t handle_ = nullptr;
};

// Throws Failure.
void check_cudnn(cudnnStatus_t status, const char* what);

}  // namespace ebb::cuda
