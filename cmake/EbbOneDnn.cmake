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

# For the layer that calls oneDNN, and through it for every program that has the layer linked in.
function(ebb_use_onednn target)
  target_include_directories(${target} SYSTEM PUBLIC "$<BUILD_INTERFACE:${EBB_ONEDNN_PREFIX}/include>")
  target_link_libraries(${target} PUBLIC ${CMAKE_DL_LIBS})
  target_link_options(${target} INTERFACE "$<BUILD_INTERFACE:LINKER:-rpath,${EBB_ONEDNN_PREFIX}/lib>")
endfunction()

# For a library or module that contains that layer: the two libraries lie beside it once it is installed.
function(ebb_find_onednn_beside target)
  set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN;${EBB_ONEDNN_PREFIX}/lib"
                                             INSTALL_RPATH "$ORIGIN")
endfunction()
