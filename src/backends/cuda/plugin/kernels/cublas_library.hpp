// cuBLASLt, opened with the first product.
#pragma once

#include <cublasLt.h>

#include <string>

namespace ebb::cuda {

#define EBB_CUBLAS_FUNCTIONS(use)                                                                \
  use(Create) use(GetVersion) use(Matmul) use(MatmulAlgoGetHeuristic) use(MatmulDescCreate)      \
      use(MatmulDescDestroy) use(MatmulDescSetAttribute) use(MatmulPreferenceCreate)             \
          use(MatmulPreferenceDestroy) use(MatmulPreferenceSetAttribute) use(MatrixLayoutCreate) \
              use(MatrixLayoutDestroy) use(MatrixLayoutSetAttribute)

struct CublasLibrary {
#define EBB_CUBLAS_MEMBER(name) decltype(&::cublasLt##name) name = nullptr;
  EBB_CUBLAS_FUNCTIONS(EBB_CUBLAS_MEMBER)
#undef EBB_CUBLAS_MEMBER
};

// Null: not there; says so once on stderr, and why_no_cublas() has the reason.
const CublasLibrary* cublas();
const std::string& why_no_cublas();

// This device's handle; any thread may use it. Pre: cublas() is there. Throws Failure.
cublasLtHandle_t cublas_handle(int ordinal);

// Throws Failure.
void check_cublas(cublasStatus_t status, const char* what);

}  // namespace ebb::cuda
