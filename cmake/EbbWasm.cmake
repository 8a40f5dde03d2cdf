# The core as WebAssembly (preset wasm): the layers of EBB_LAYERS_BUILT for 32 bits and one thread, the module that a
# page loads (hosts/tfjs/web/core), and the core's own tests, which run under Node.

# Exceptions are WebAssembly's own, which every browser has since 2022; emscripten's are made of JavaScript.
add_compile_options(-fwasm-exceptions "SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/wasm/older_libcxx.hpp")
add_link_options(-fwasm-exceptions)

# Debian's fmt, for its headers: nothing else of /usr/include may be seen.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/fmt_include")
file(CREATE_LINK /usr/include/fmt "${PROJECT_BINARY_DIR}/fmt_include/fmt" SYMBOLIC)
add_library(fmt STATIC "${PROJECT_SOURCE_DIR}/cmake/embedded_fmt.cpp")
target_include_directories(fmt SYSTEM PUBLIC "${PROJECT_BINARY_DIR}/fmt_include")
target_compile_features(fmt PUBLIC cxx_std_20)
target_compile_definitions(fmt PUBLIC FMT_STATIC_THOUSANDS_SEPARATOR=',')
add_library(fmt::fmt ALIAS fmt)

function(ebb_add_wasm)
  if(EBB_BUILD_TESTS)
    add_subdirectory(tests/wasm)
  endif()
  add_subdirectory(hosts/tfjs/web/core)
endfunction()
