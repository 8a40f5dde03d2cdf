#include "backends/cuda/plugin/kernels/cudnn_library.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <vector>

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/library_search.hpp"

namespace ebb::cuda {
namespace {

constexpr std::array<const char*, 1> kNames{"libcudnn.so.9"};

struct Loaded {
  CudnnLibrary functions;
  std::string why;  // empty: it is there
};

Loaded load() {
  Loaded made;
  const OpenedLibrary opened = open_library(kNames);
  made.why = opened.handle == nullptr ? opened.why : "";
#define EBB_CUDNN_FIND(name)                                                                   \
  if (made.why.empty() && !find_function(opened.handle, "cudnn" #name, made.functions.name)) { \
    made.why = "cuDNN has no cudnn" #name;                                                     \
  }
  EBB_CUDNN_FUNCTIONS(EBB_CUDNN_FIND)
#undef EBB_CUDNN_FIND
  if (!made.why.empty()) {
    std::fprintf(
        stderr,
        "[ebb] cuda: libcudnn.so.9 is not there (%s); convolutions run on Ebb's own, slower "
        "kernels. It comes with NVIDIA's cuDNN 9 and with PyPI's nvidia-cudnn-cu13; "
        "EBB_CUDA_LIBRARIES names its folder.\n",
        made.why.c_str());
  }
  return made;
}

const Loaded& loaded() {
  static const Loaded* const once = new Loaded(load());
  return *once;
}

// Handles that nobody uses at the moment, by device. Kept for ever: threads that end late may still
// give one back.
struct Handles {
  std::mutex mutex;
  std::map<int, std::vector<cudnnHandle_t>> free;
};
Handles& handles() {
  static auto* const made = new Handles;
  return *made;
}

}  // namespace

const CudnnLibrary* cudnn() { return loaded().why.empty() ? &loaded().functions : nullptr; }

const std::string& why_no_cudnn() { return loaded().why; }

CudnnHandle::CudnnHandle(int ordinal, cudaStream_t stream) : ordinal_(ordinal) {
  {
    const std::lock_guard lock(handles().mutex);
    std::vector<cudnnHandle_t>& free = handles().free[ordinal];
    if (!free.empty()) {
      handle_ = free.back();
      free.pop_back();
    }
  }
  if (handle_ == nullptr) check_cudnn(cudnn()->Create(&handle_), "a handle");
  check_cudnn(cudnn()->SetStream(handle_, stream), "a stream");
}

CudnnHandle::~CudnnHandle() {
  const std::lock_guard lock(handles().mutex);
  handles().free[ordinal_].push_back(handle_);
}

void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  // A launch that failed may be an error of the device that stays.
  check(cudaGetLastError(), what);
  throw Failure{EBB_CUDA_FAILED, "[cuDNN] " + std::string(what) +
                                     " was refused: " + cudnn()->GetErrorString(status)};
}

}  // namespace ebb::cuda
