# oneDNN: its headers when Ebb is compiled, its library when a kernel first needs it.
#
# Nothing links libdnnl.so.3. The CPU backend loads it, and libgomp.so.1, by name (src/backends/cpu/team.cpp,
# dnn_library.cpp): a program that only keeps books starts without 44 MB of kernels, and the OpenMP team can be told
# how to wait before it exists. Both are looked for beside Ebb's own library ($ORIGIN), in a build tree also where
# tools/ensure_onednn.sh put them.

# EBB_BESIDE: the folder of those that travel with Ebb's library; EBB_BESIDE_LIBRARIES: their names.
add_library(ebb_onednn INTERFACE) # what calls oneDNN is compiled with
target_link_libraries(ebb_onednn INTERFACE ${CMAKE_DL_LIBS})
if(EBB_ONEDNN)
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/tools/ensure_onednn.sh"
    OUTPUT_VARIABLE prefix
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  target_include_directories(ebb_onednn SYSTEM INTERFACE "${prefix}/include")
  set(EBB_BESIDE "${prefix}/lib" CACHE INTERNAL "Folder of libraries that are loaded by name")
  set(EBB_BESIDE_LIBRARIES libdnnl.so.3 libgomp.so.1)
elseif(EBB_OWN_TEAM)
  set(EBB_BESIDE "" CACHE INTERNAL "")
  set(EBB_BESIDE_LIBRARIES "")
else()
  if(EBB_RUNTIME)
    set(gomp "${EBB_RUNTIME}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/libgomp.so.1")
  else()
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1 OUTPUT_VARIABLE gomp
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  # In a folder of its own: beside it lies a C++ library that this build's programs must not find.
  set(EBB_BESIDE "${PROJECT_BINARY_DIR}/beside" CACHE INTERNAL "")
  set(EBB_BESIDE_LIBRARIES libgomp.so.1)
  file(REAL_PATH "${gomp}" gomp)
  file(MAKE_DIRECTORY "${EBB_BESIDE}")
  file(COPY_FILE "${gomp}" "${EBB_BESIDE}/libgomp.so.1" ONLY_IF_DIFFERENT)
endif()

# Every program of this build tree; `cmake --install` takes it out again.
if(EBB_BESIDE)
  list(APPEND CMAKE_BUILD_RPATH "${EBB_BESIDE}")
endif()
if(EBB_SANITIZE)
  # A sanitizer's library calls dlopen in our place: only the old kind of run path serves all callers.
  add_link_options(-Wl,--disable-new-dtags)
endif()

# ebb_install_libraries_beside(<folder> ...): what a library that contains the layer loads, and Highway, which picks the
# vector instructions at run time.
function(ebb_install_libraries_beside folder)
  foreach(library IN LISTS EBB_BESIDE_LIBRARIES)
    file(REAL_PATH "${EBB_BESIDE}/${library}" file)
    install(PROGRAMS "${file}" DESTINATION "${folder}" RENAME ${library} ${ARGN})
  endforeach()
  if(EBB_HIGHWAY)
    install(PROGRAMS "${EBB_HIGHWAY}" DESTINATION "${folder}" RENAME libhwy.so.1 ${ARGN})
  endif()
endfunction()

# ebb_find_libraries_from(<folder> <result>): the run path of what is built there, relative: the same bytes in every clone.
function(ebb_find_libraries_from folder result)
  if(NOT EBB_BESIDE)
    set(${result} "$ORIGIN" PARENT_SCOPE)
    return()
  endif()
  cmake_path(RELATIVE_PATH EBB_BESIDE BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE beside)
  set(${result} "$ORIGIN;$ORIGIN/${beside}" PARENT_SCOPE)
endfunction()

# For a library that contains the layer: once it is installed, the libraries lie in a folder of their own beside it, where
# they are in nobody's way: a system has a libgomp already.
function(ebb_find_onednn_beside target)
  ebb_find_libraries_from("${PROJECT_BINARY_DIR}" built)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/ebb" BUILD_RPATH "${built}")
  ebb_install_libraries_beside(${CMAKE_INSTALL_LIBDIR}/ebb)
endfunction()
