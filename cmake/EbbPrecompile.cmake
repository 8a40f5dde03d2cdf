# What most files include is parsed once instead of in each of them, where it is more than half of the time that a small
# file takes. EBB_PRECOMPILE: all; tests, so that every file of the layers is known to include what it uses; or nothing.
set(EBB_PRECOMPILE "" CACHE STRING "Parse what most files include once: all, tests or nothing")

# ebb_precompile(<target> <alike> [<header>]): targets of one word are compiled with the same options, so that the first
# of them makes what all of them use.
function(ebb_precompile target alike)
  set(header "${ARGN}")
  if(NOT header)
    set(header "${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp")
  endif()
  get_property(first GLOBAL PROPERTY "EBB_PRECOMPILED_${alike}")
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
    set_property(GLOBAL PROPERTY "EBB_PRECOMPILED_${alike}" ${target})
  endif()
  # ccache looks into what is precompiled only if it is told where it stands.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
                                           "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

function(ebb_precompile_layer target alike)
  if(EBB_PRECOMPILE STREQUAL "all")
    ebb_precompile(${target} ${alike})
  endif()
endfunction()

function(ebb_precompile_test target)
  if(EBB_PRECOMPILE)
    ebb_precompile(${target} tests "${PROJECT_SOURCE_DIR}/cmake/precompiled_tests.hpp")
  endif()
endfunction()

# ebb_compile_with(<source> <option>...): gcc takes the options of functions from what is precompiled, whatever the command
# line says, so a source with options of its own parses everything itself.
function(ebb_compile_with source)
  set_source_files_properties("${PROJECT_SOURCE_DIR}/${source}" PROPERTIES COMPILE_OPTIONS "${ARGN}"
                                                                           SKIP_PRECOMPILE_HEADERS ON)
endfunction()
