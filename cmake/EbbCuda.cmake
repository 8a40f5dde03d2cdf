# libebb_cuda.so: what knows CUDA (src/backends/cuda/plugin). nvcc compiles the .cu files, the C++ compiler the rest.
#
# Nothing links the driver, cuBLASLt or cuDNN: the runtime is linked in (libcudart_static) and finds the driver; the
# libraries are opened when a kernel first needs them. So it is built, and loads, where there is no GPU.

set(EBB_CUDA_ARCHITECTURES "90" CACHE STRING "Compute capabilities to compile for; PTX is made for the last")

execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/tools/ensure_cuda.sh"
  OUTPUT_VARIABLE EBB_CUDA_PREFIX
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

set(plugin "${PROJECT_SOURCE_DIR}/src/backends/cuda/plugin")
file(GLOB host_sources CONFIGURE_DEPENDS "${plugin}/*.cpp" "${plugin}/kernels/*.cpp")
file(GLOB device_sources CONFIGURE_DEPENDS "${plugin}/*.cu" "${plugin}/kernels/*.cu")

set(code)
foreach(architecture IN LISTS EBB_CUDA_ARCHITECTURES)
  list(APPEND code "-gencode=arch=compute_${architecture},code=sm_${architecture}")
  set(newest ${architecture})
endforeach()
list(APPEND code "-gencode=arch=compute_${newest},code=compute_${newest}")

set(objects)
foreach(source IN LISTS device_sources)
  get_filename_component(name "${source}" NAME)
  set(object "${CMAKE_CURRENT_BINARY_DIR}/cuda/${name}.o")
  add_custom_command(
    OUTPUT "${object}"
    COMMAND
      "${EBB_CUDA_PREFIX}/bin/nvcc" -std=c++20 -O3 -DNDEBUG ${code} --expt-relaxed-constexpr
      --expt-extended-lambda -Xcompiler -fPIC,-fvisibility=hidden,-Wall -diag-suppress 20012
      -I "${PROJECT_SOURCE_DIR}/include" -I "${PROJECT_SOURCE_DIR}/src" -I
      "${EBB_CUDA_PREFIX}/include/cccl" -MD -MF "${object}.d" -c "${source}" -o "${object}"
    DEPENDS "${source}"
    DEPFILE "${object}.d"
    COMMENT "nvcc ${name}"
    VERBATIM)
  list(APPEND objects "${object}")
endforeach()

add_library(ebb_cuda MODULE ${host_sources} ${objects})
set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_include_directories(ebb_cuda PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
target_include_directories(ebb_cuda SYSTEM PRIVATE "${EBB_CUDA_PREFIX}/include" "${EBB_CUDA_PREFIX}/include/cccl")
target_compile_features(ebb_cuda PRIVATE cxx_std_20)
target_compile_options(ebb_cuda PRIVATE -Wall -Wextra -fvisibility=hidden $<$<BOOL:${EBB_WERROR}>:-Werror>)
target_link_libraries(ebb_cuda PRIVATE "${EBB_CUDA_PREFIX}/lib/libcudart_static.a" Threads::Threads ${CMAKE_DL_LIBS} rt)
target_link_options(ebb_cuda PRIVATE "LINKER:--version-script=${plugin}/exports.map" LINKER:--no-undefined)
ebb_make_portable(ebb_cuda)
if(NOT EBB_RUNTIME)
  target_link_options(ebb_cuda PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(ebb_cuda PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS "${plugin}/exports.map"
                                          INTERPROCEDURAL_OPTIMIZATION OFF)
install(TARGETS ebb_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ebb_cuda LIBRARY DESTINATION . COMPONENT plugin EXCLUDE_FROM_ALL)
