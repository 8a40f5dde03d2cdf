#include "backends/cuda/plugin/kernels/cublas_library.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <mutex>

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/library_search.hpp"

namespace ebb::cuda {
namespace {

constexpr std::array<const char*, 2> kNames{"libcublasLt.so.13", "libcublasLt.so.12"};

struct Loaded {
  CublasLibrary functions;
  std::string why;  // empty: it is there
};

Loaded load() {
  Loaded made;
  const OpenedLibrary opened = open_library(kNames);
  made.why = opened.handle == nullptr ? opened.why : "";
#define EBB_CUBLAS_FIND(name)                                                                     \
  if (made.why.empty() && !find_function(opened.handle, "cublasLt" #name, made.functions.name)) { \
    made.why = "cuBLASLt has no cublasLt" #name;                                                  \
  }
  EBB_CUBLAS_FUNCTIONS(EBB_CUBLAS_FIND)
#undef EBB_CUBLAS_FIND
  if (!made.why.empty()) {
    std::fprintf(
        stderr,
        "[ebb] cuda: libcublasLt.so.13 is not there (%s); products run on Ebb's own, slower "
        "kernel. It comes with the CUDA toolkit and with PyPI's nvidia-cublas; "
        "EBB_CUDA_LIBRARIES names its folder.\n",
        made.why.c_str());
  }
  return made;
}

const Loaded& loaded() {
  static const Loaded* const once = new Loaded(load());
  return *once;
}

}  // namespace

const CublasLibrary* cublas() { return loaded().why.empty() ? &loaded().functions : nullptr; }

const std::string& why_no_cublas() { return loaded().why; }

cublasLtHandle_t cublas_handle(int ordinal) {
  // Kept for ever: threads that end late may still ask.
  static auto* const mutex = new std::mutex;
  static auto* const handles = new std::map<int, cublasLtHandle_t>;
  const std::lock_guard lock(*mutex);
  cublasLtHandle_t& handle = (*handles)[ordinal];
  if (handle == nullptr) check_cublas(cublas()->Create(&handle), "a cuBLASLt handle");
  return handle;
}

void check_cublas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const bool memory = status == CUBLAS_STATUS_ALLOC_FAILED;
  // A launch that failed may be an error of the device that stays.
  if (status == CUBLAS_STATUS_EXECUTION_FAILED) check(cudaGetLastError(), what);
  throw Failure{memory ? EBB_CUDA_NO_MEMORY : EBB_CUDA_FAILED,
                "[cuBLASLt] " + std::string(what) + " was refused with status " +
                    std::to_string(static_cast<int>(status))};
}

}  // namespace ebb::cuda
