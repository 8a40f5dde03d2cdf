# ebb_cpu_dependencies: what src/backends/cpu is compiled with and needs at run time.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
find_path(EBB_KISSFFT_INCLUDE kissfft/kissfft.hh REQUIRED)

add_library(ebb_cpu_dependencies INTERFACE)
target_link_libraries(ebb_cpu_dependencies INTERFACE OpenMP::OpenMP_CXX PkgConfig::HWY)
target_include_directories(ebb_cpu_dependencies SYSTEM INTERFACE ${EBB_KISSFFT_INCLUDE})

# On x86-64 three targets: SSE4 (as oneDNN needs it, so every file here may use it), AVX2, AVX-512.
# Each one more is compile time and size.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(ebb_cpu_options -march=x86-64-v2)
  set(ebb_cpu_definitions HWY_DISABLE_PCLMUL_AES "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)")
endif()
