# ebb_cpu_dependencies: what src/backends/cpu is compiled with and needs at run time.
#
# oneDNN is PyPI's, which is for x86-64 and glibc. Elsewhere, or without it, products and convolutions are
# kernels/blocks.cpp's and Winograd's.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT EBB_MUSL)
  option(EBB_ONEDNN "Products and convolutions by oneDNN" ON)
else()
  set(EBB_ONEDNN OFF)
endif()
option(EBB_OWN_TEAM "Share loops by threads of Ebb's own, not by libgomp's" ${EBB_MUSL})
if(EBB_ONEDNN AND EBB_OWN_TEAM)
  message(FATAL_ERROR "EBB_OWN_TEAM needs EBB_ONEDNN=OFF: oneDNN's loops are libgomp's")
endif()
include(EbbOneDnn)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWY REQUIRED IMPORTED_TARGET libhwy)
# The file that travels along, if it is one: the variables of pkg-config are paths on the machine it is for.
list(GET HWY_LINK_LIBRARIES 0 highway)
if(highway MATCHES "[.]a$")
  set(EBB_HIGHWAY "")
else()
  cmake_path(GET highway PARENT_PATH folder)
  file(REAL_PATH "${folder}/libhwy.so.1" EBB_HIGHWAY)
endif()
find_path(EBB_KISSFFT_INCLUDE kissfft/kissfft.hh REQUIRED)

add_library(ebb_cpu_dependencies INTERFACE)
target_link_libraries(ebb_cpu_dependencies INTERFACE ebb_onednn PkgConfig::HWY)
target_include_directories(ebb_cpu_dependencies SYSTEM INTERFACE ${EBB_KISSFFT_INCLUDE})

# ebb_cpu_options, ebb_cpu_definitions: which vectors there are code for. Each one more is compile time and size.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  # SSE4 (as oneDNN needs it, so every file here may use it), AVX2, AVX-512.
  set(ebb_cpu_options $<IF:$<BOOL:${EBB_MUSL}>,-march=x86_64_v2,-march=x86-64-v2>) # as zig spells it
  set(ebb_cpu_definitions HWY_DISABLE_PCLMUL_AES "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)")
  if(EBB_MUSL) # Debian's Highway does not know how newer clangs name AVX-512
    set(ebb_cpu_definitions HWY_DISABLE_PCLMUL_AES "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3|HWY_AVX3_DL)")
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # NEON, and SVE of any length. A product and a sum are rounded one by one, as on the other processors, unless the
  # source says that they are one: so both give the same numbers.
  set(ebb_cpu_options -ffp-contract=off)
  set(ebb_cpu_definitions "HWY_DISABLED_TARGETS=(HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()
if(EBB_OWN_TEAM)
  list(APPEND ebb_cpu_definitions EBB_OWN_TEAM)
endif()

# ebb_choose_cpu_sources(<list>): of two ways to multiply, the one that is built.
function(ebb_choose_cpu_sources list)
  if(EBB_ONEDNN)
    list(FILTER ${list} EXCLUDE REGEX "/(products_blocked|convolutions_(blocked|direct|gather))[.]cpp$")
  else()
    list(FILTER ${list} EXCLUDE REGEX "/(dnn_[^/]*|plan_cache|products_dnn|convolutions_dnn)[.]cpp$")
  endif()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()
