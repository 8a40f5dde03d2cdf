// cuBLASLt's functions, opened with the first product.
#pragma once

#include <cublasLt.h>

namespace ebb::cuda {

class DeviceState;

// clang-format off
#define EBB_CUBLAS_FUNCTIONS(use)   \
  use(Create)                       \
  use(Destroy)                      \
  use(Matmul)                       \
  use(MatmulAlgoGetHeuristic)       \
  use(MatmulDescCreate)             \
  use(MatmulDescDestroy)            \
  use(MatmulDescSetAttribute)       \
  use(MatmulPreferenceCreate)       \
  use(MatmulPreferenceDestroy)      \
  use(MatmulPreferenceSetAttribute) \
  use(MatrixLayoutCreate)           \
  use(MatrixLayoutDestroy)          \
  use(MatrixLayoutSetAttribute)
// clang-format on

struct CublasFunctions {
#define EBB_CUBLAS_MEMBER(name) decltype(&::cublasLt##name) name = nullptr;
  EBB_CUBLAS_FUNCTIONS(EBB_CUBLAS_MEMBER)
#undef EBB_CUBLAS_MEMBER
};

// Null: the library is not there, which is said once on stderr.
const CublasFunctions* cublas_functions();

// A device's handle (DeviceState::part); any thread may use it. Pre: the library is there.
class CublasHandle {
 public:
  // Throws Failure.
  explicit CublasHandle(DeviceState& device);
  ~CublasHandle();
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  operator cublasLtHandle_t() const noexcept { return handle_; }

 private:
  cublasLtHandle_t handle_ = nullptr;
};

// Throws Failure.
void check_cublas(cublasStatus_t status, const char* what);

}  // namespace ebb::cuda
