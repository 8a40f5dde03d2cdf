# ebb_build_options: what every target of this build is compiled with. It is never installed.
add_library(ebb_build_options INTERFACE)
target_compile_features(ebb_build_options INTERFACE cxx_std_20)
target_compile_options(ebb_build_options INTERFACE -Wall -Wextra -Wpedantic)

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
if(NOT EMSCRIPTEN)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(EBB_WERROR)
  target_compile_options(ebb_build_options INTERFACE -Werror)
endif()

# Calls inside the library are direct: nobody is meant to replace one of its functions.
if(NOT EMSCRIPTEN)
  target_compile_options(ebb_build_options INTERFACE -fno-semantic-interposition)
endif()
if(NOT EBB_SANITIZE AND NOT EMSCRIPTEN AND NOT EBB_MUSL) # zig does not know the option
  add_link_options(LINKER:-Bsymbolic-functions)
endif()
if(EBB_LTO)
  include(CheckIPOSupported)
  check_ipo_supported()
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

if(EBB_SANITIZE)
  target_compile_options(
    ebb_build_options INTERFACE -fsanitize=${EBB_SANITIZE} -fno-sanitize-recover=all
                                -fno-omit-frame-pointer)
  target_link_options(ebb_build_options INTERFACE -fsanitize=${EBB_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses gcc's flow analysis; the same code is checked without it in `dev`.
    target_compile_options(ebb_build_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

if(EBB_COVERAGE)
  target_compile_options(ebb_build_options INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(ebb_build_options INTERFACE --coverage)
endif()

if(EBB_FUZZ)
  target_compile_options(ebb_build_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
