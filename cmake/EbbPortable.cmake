# What is shipped runs where it was not built: it is linked against glibc 2.31 and the libstdc++ of GCC 10 (no symbol of
# which is newer than GCC 9's), which tools/ensure_runtime.sh unpacks. Only the link differs: the objects are those of
# every other build. tools/check_symbols.py holds each shipped file against the limits.
set(EBB_RUNTIME "")
if(EBB_PORTABLE AND NOT EBB_SANITIZE AND NOT EBB_MUSL)
  execute_process(
    COMMAND "${PROJECT_SOURCE_DIR}/tools/ensure_runtime.sh" "${CMAKE_SYSTEM_PROCESSOR}"
    OUTPUT_VARIABLE EBB_RUNTIME
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT EBB_RUNTIME)
    message(STATUS "EBB_PORTABLE: no runtime to link against here; what is built runs on machines as new as this one")
  endif()
endif()

# ebb_make_portable(<shared library or program> [STATIC]): STATIC where the C++ library is linked in, which then is the
# newer one and has all that newer objects ask for but what glibc has.
function(ebb_make_portable target)
  if(NOT EBB_RUNTIME)
    return()
  endif()
  if("STATIC" IN_LIST ARGN)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/newer_libc.cpp")
  else()
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/newer_runtime.cpp" "${PROJECT_SOURCE_DIR}/cmake/newer_libc.cpp")
  endif()
  set(libraries "${EBB_RUNTIME}/usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
  # -L: before the folder of the compiler, which has a libstdc++ of its own; -B: the files that begin a program.
  target_link_options(${target} PRIVATE "--sysroot=${EBB_RUNTIME}" "-L${libraries}" "-B${libraries}/"
                                               LINKER:--as-needed)
  # In libraries of their own until glibc 2.34, so the newer one that CMake looked at names none.
  target_link_libraries(${target} PRIVATE "-Wl,--push-state,--no-as-needed,-lpthread,-ldl,-lm,--pop-state")
endfunction()
