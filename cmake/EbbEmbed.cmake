# For a library that carries the core inside: Node's addon, the JNI library.
#
# The layers' objects are those of libebb, compiled once in a build tree. ebb_layers is all of them;
# ebb_books is what keeps books, without the CPU's kernels, which nothing then has to compile.
function(ebb_add_books)
  get_property(libraries GLOBAL PROPERTY EBB_LAYER_LIBRARIES)
  list(REMOVE_ITEM libraries ebb_backends_cpu ebb_backends_cuda)
  list(REVERSE libraries)
  add_library(ebb_books INTERFACE)
  add_dependencies(ebb_books ${libraries})
  foreach(library IN LISTS libraries)
    # The file, not the target: a target brings along whatever its layer may call, kernels included.
    target_link_libraries(ebb_books INTERFACE $<TARGET_FILE:${library}>)
  endforeach()
  target_include_directories(ebb_books INTERFACE "${PROJECT_SOURCE_DIR}/include")
  target_link_libraries(ebb_books INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
endfunction()

# ebb_carry_fmt(<target>): a machine that it runs on need not have libfmt.
function(ebb_carry_fmt target)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/embedded_fmt.cpp")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/cmake/embedded_fmt.cpp" TARGET_DIRECTORY ${target}
                              PROPERTIES COMPILE_OPTIONS -fvisibility=hidden)
  if(EBB_MUSL) # elsewhere its headers are the system's
    target_include_directories(${target} SYSTEM PRIVATE "${EBB_MUSL_ROOT}/include")
  endif()
  target_link_options(${target} PRIVATE LINKER:--as-needed)
endfunction()

# ebb_embed_core(<target> <names that the host looks for>...)
function(ebb_embed_core target)
  # The core is this file's own business: another copy in the same process must not meet it.
  set(exports "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
  list(JOIN ARGN "; " names)
  file(CONFIGURE OUTPUT "${exports}" CONTENT "{\n  global: ${names};\n  local: *;\n};\n" @ONLY)
  target_link_options(${target} PRIVATE "LINKER:--version-script=${exports}" LINKER:--gc-sections)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden LINK_DEPENDS "${exports}")
  # It travels in a package: beside the C and C++ libraries it needs nothing of the machine it runs on.
  ebb_carry_fmt(${target})
  ebb_make_portable(${target})
  if(NOT EBB_SANITIZE)
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-s>)
  endif()
  if(NOT EBB_SANITIZE AND NOT EBB_RUNTIME AND NOT EBB_MUSL) # zig links its own in
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
