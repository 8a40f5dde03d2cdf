# ebb_cpu_dependencies: what src/backends/cpu is compiled with and needs at run time.
include(EbbOneDnn)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)

add_library(ebb_cpu_dependencies INTERFACE)
target_link_libraries(ebb_cpu_dependencies INTERFACE ebb_onednn PkgConfig::HWY)
