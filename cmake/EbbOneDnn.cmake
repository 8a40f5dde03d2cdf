# oneDNN: its headers when Ebb is compiled, its library when a kernel first needs it.
#
# Nothing links libdnnl.so.3. The CPU backend loads it, and libgomp.so.1, by name (src/backends/cpu/team.cpp,
# dnn_library.cpp): a program that only keeps books starts without 44 MB of kernels, and the OpenMP team can be told
# how to wait before it exists. Both are looked for beside Ebb's own library ($ORIGIN), in a build tree also where
# tools/ensure_onednn.sh put them.

execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/tools/ensure_onednn.sh"
  OUTPUT_VARIABLE EBB_ONEDNN_PREFIX
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(EBB_ONEDNN_PREFIX "${EBB_ONEDNN_PREFIX}" CACHE INTERNAL "Folder of oneDNN's include and lib")

# What calls oneDNN is compiled with.
add_library(ebb_onednn INTERFACE)
target_include_directories(ebb_onednn SYSTEM INTERFACE "${EBB_ONEDNN_PREFIX}/include")
target_link_libraries(ebb_onednn INTERFACE ${CMAKE_DL_LIBS})

# Every program of this build tree; `cmake --install` takes it out again.
list(APPEND CMAKE_BUILD_RPATH "${EBB_ONEDNN_PREFIX}/lib")
if(EBB_SANITIZE)
  # A sanitizer's library calls dlopen in our place: only the old kind of run path serves all callers.
  add_link_options(-Wl,--disable-new-dtags)
endif()

# ebb_install_libraries_beside(<folder> ...): what a library that contains the layer loads, and Highway, which picks the
# vector instructions at run time.
function(ebb_install_libraries_beside folder)
  install(PROGRAMS "${EBB_ONEDNN_PREFIX}/lib/libdnnl.so.3" "${EBB_ONEDNN_PREFIX}/lib/libgomp.so.1"
          DESTINATION "${folder}" ${ARGN})
  file(REAL_PATH "${HWY_LIBDIR}/libhwy.so.1" highway)
  install(PROGRAMS "${highway}" DESTINATION "${folder}" RENAME libhwy.so.1 ${ARGN})
endfunction()

# ebb_find_libraries_from(<folder> <result>): the run path of what is built there, relative: the same bytes in every clone.
function(ebb_find_libraries_from folder result)
  cmake_path(RELATIVE_PATH EBB_ONEDNN_PREFIX BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE prefix)
  set(${result} "$ORIGIN;$ORIGIN/${prefix}/lib" PARENT_SCOPE)
endfunction()

# For a library that contains the layer: once it is installed, the libraries lie in a folder of their own beside it, where
# they are in nobody's way: a system has a libgomp already.
function(ebb_find_onednn_beside target)
  ebb_find_libraries_from("${PROJECT_BINARY_DIR}" built)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/ebb" BUILD_RPATH "${built}")
  ebb_install_libraries_beside(${CMAKE_INSTALL_LIBDIR}/ebb)
endfunction()
