#include "backends/cuda/plugin/kernels/cublas_library.hpp"

#include <cstdio>
#include <string>

#include "backends/cuda/plugin/device_state.hpp"
#include "backends/cuda/plugin/libraries.hpp"

namespace ebb::cuda {
namespace {

// What Ebb uses of cuBLASLt is the same in CUDA 12's.
const Library& library() {
  if (cublas_lt().found()) return cublas_lt();
  static const Library older("libcublasLt.so.12", "install CUDA 12's or 13's cuBLAS");
  return older.found() ? older : cublas_lt();
}

const CublasFunctions* load() {
  try {
    auto* made = new CublasFunctions;
#define EBB_CUBLAS_FIND(name) \
  made->name = reinterpret_cast<decltype(made->name)>(library().find("cublasLt" #name));
    EBB_CUBLAS_FUNCTIONS(EBB_CUBLAS_FIND)
#undef EBB_CUBLAS_FIND
    return made;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "[ebb] cuda: products run on Ebb's own, slower kernel: %s\n",
                 failure.text.c_str());
    return nullptr;
  }
}

}  // namespace

const CublasFunctions* cublas_functions() {
  static const CublasFunctions* const loaded = load();
  return loaded;
}

CublasHandle::CublasHandle(DeviceState&) {
  check_cublas(cublas_functions()->Create(&handle_), "a cuBLASLt handle");
}

CublasHandle::~CublasHandle() { cublas_functions()->Destroy(handle_); }

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
