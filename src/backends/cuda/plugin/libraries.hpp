// Libraries that are opened when a kernel first needs them: cuBLASLt and cuDNN. Only their headers
// are needed to compile.
//
//   static const auto create = cublas_lt().function<decltype(cublasLtCreate)>("cublasLtCreate");
#pragma once

#include <string>

namespace ebb::cuda {

class Library {
 public:
  // Looks beside the plug-in, in the folders of EBB_CUDA_LIBRARIES (with ':' between them), where
  // the loader looks, and where the toolkit is usually installed.
  Library(std::string file, std::string how_to_get_it);

  bool found() const noexcept { return handle_ != nullptr; }
  // Throws Failure(EBB_CUDA_MISSING) naming the library and how to get it.
  void* find(const char* name) const;
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(find(name));
  }

 private:
  std::string file_;
  std::string how_to_get_it_;
  std::string why_;
  void* handle_ = nullptr;
};

// Opened at the first call, for the life of the process.
const Library& cublas_lt();
const Library& cudnn();

}  // namespace ebb::cuda
