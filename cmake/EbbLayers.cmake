# One static library a layer, and libebb made of all of them.
#
# A layer links only the layers that cmake/layers.txt gives it, and its unit tests link only the
# layer, so a call against the order fails to link even where no include gives it away.

# The compile settings that a layer and libebb share.
function(ebb_configure_library target)
  target_include_directories(
    ${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_definitions(${target}
                             PUBLIC $<$<BOOL:${EBB_EXPENSIVE_CHECKS}>:EBB_EXPENSIVE_CHECKS>)
  # The pool's fast path reads thread-local state on each call; initial-exec makes that one
  # instruction, also in a shared library. (musl loads no such library into a running program.)
  if(NOT EMSCRIPTEN AND NOT EBB_MUSL)
    target_compile_options(${target} PRIVATE -ftls-model=initial-exec)
  endif()
  target_link_libraries(${target} PUBLIC fmt::fmt Threads::Threads)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:ebb_build_options>)
endfunction()

# ebb_memory for memory, ebb_backends_cpu for backends/cpu.
function(ebb_layer_target layer result)
  string(REPLACE "/" "_" name "${layer}")
  set(${result} "ebb_${name}" PARENT_SCOPE)
endfunction()

# Links the layers below that are in the tree.
function(ebb_link_layers target)
  list(REVERSE ARGN)
  foreach(layer IN LISTS ARGN)
    ebb_layer_target(${layer} library)
    if(TARGET ${library})
      target_link_libraries(${target} PUBLIC ${library})
    endif()
  endforeach()
endfunction()

# Leaves out what includes a layer that this build is without (EBB_LAYERS_BUILT).
function(ebb_leave_out_unbuilt list)
  if(NOT EBB_LAYERS_BUILT)
    return()
  endif()
  foreach(source IN LISTS ${list})
    file(STRINGS "${source}" includes REGEX "^#include \"(ebb/)?[a-z]+/")
    foreach(layer IN LISTS EBB_LAYERS)
      if(NOT layer IN_LIST EBB_LAYERS_BUILT AND includes MATCHES "\"(ebb/)?${layer}/")
        list(REMOVE_ITEM ${list} "${source}")
      endif()
    endforeach()
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

# A layer's sources: those of its folder that no nested layer (backends/cpu) and no plug-in claims.
function(ebb_layer_sources layer result)
  set(other_platforms wasm)
  if(EMSCRIPTEN)
    set(other_platforms posix)
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/plugin/")
  list(FILTER sources EXCLUDE REGEX "/base/platform/${other_platforms}.cpp$")
  ebb_leave_out_unbuilt(sources)
  foreach(other IN LISTS EBB_LAYERS)
    if(other MATCHES "^${layer}/")
      list(FILTER sources EXCLUDE REGEX "/src/${other}/")
    endif()
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

function(ebb_add_layer layer)
  ebb_layer_sources(${layer} sources)
  if(EBB_LAYERS_BUILT AND NOT layer IN_LIST EBB_LAYERS_BUILT)
    return()
  endif()
  if(NOT sources OR (layer STREQUAL "backends/cpu" AND NOT EBB_CPU))
    return()
  endif()
  if(layer STREQUAL "backends/cpu")
    ebb_choose_cpu_sources(sources)
  endif()
  ebb_layer_target(${layer} library)
  add_library(${library} STATIC ${sources})
  # An archive waits for its own objects, not for the archives below it: what needs no kernels does
  # not wait for them.
  set_target_properties(${library} PROPERTIES OPTIMIZE_DEPENDENCIES ON)
  ebb_configure_library(${library})
  ebb_link_layers(${library} ${ARGN})
  if(layer STREQUAL "backends/cpu")
    target_link_libraries(${library} PUBLIC ebb_cpu_dependencies)
    target_compile_options(${library} PRIVATE ${ebb_cpu_options})
    target_compile_definitions(${library} PRIVATE ${ebb_cpu_definitions})
    # Rounds each product and each sum, as the operations do that it stands for.
    ebb_compile_with(src/backends/cpu/kernels/optimizers_vector.cpp -ffp-contract=off)
  endif()
  set(alike linked_as_a_whole)
  if(NOT layer MATCHES "^(base|memory|tensor)$")
    # Operations and their loops gain nothing from other files, and cost minutes at link time.
    set_target_properties(${library} PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
    set(alike usual)
    if(layer STREQUAL "backends/cpu")
      set(alike kernels)
    endif()
  endif()
  ebb_precompile_layer(${library} ${alike})
  set_property(GLOBAL APPEND PROPERTY EBB_LAYER_LIBRARIES ${library})
endfunction()

function(ebb_add_layers)
  set(table "${PROJECT_SOURCE_DIR}/cmake/layers.txt")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" lines REGEX "^[^#]")
  list(TRANSFORM lines REPLACE ":.*" "" OUTPUT_VARIABLE EBB_LAYERS)
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^:]+): *(.*)$" _ "${line}")
    set(layer "${CMAKE_MATCH_1}")
    separate_arguments(below UNIX_COMMAND "${CMAKE_MATCH_2}")
    ebb_add_layer(${layer} ${below})
  endforeach()
  set(EBB_LAYERS ${EBB_LAYERS} PARENT_SCOPE)
endfunction()

# ebb: what users link. ebb_layers: the same code as static layers with src/ in the include path,
# for tests that look inside.
function(ebb_add_library)
  get_property(libraries GLOBAL PROPERTY EBB_LAYER_LIBRARIES)
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  if(EBB_SHARED)
    set(kind SHARED)
  else()
    set(kind STATIC)
  endif()
  add_library(ebb ${kind} ${objects})
  add_library(ebb::ebb ALIAS ebb)
  ebb_configure_library(ebb)
  if(EBB_CPU)
    target_link_libraries(ebb PRIVATE $<BUILD_INTERFACE:ebb_cpu_dependencies>)
    ebb_find_onednn_beside(ebb)
  endif()
  ebb_carry_fmt(ebb)
  ebb_make_portable(ebb)
  # Threads keep state of Ebb's until they end, and exit and fork handlers are Ebb's: dlclose leaves
  # the library where it is, and says so to the loader instead of leaving it to chance.
  target_link_options(ebb PRIVATE LINKER:-z,nodelete)
  set_target_properties(ebb PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                                       SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

  add_library(ebb_layers INTERFACE)
  list(REVERSE libraries)
  target_link_libraries(ebb_layers INTERFACE ${libraries})
  if(EBB_CPU)
    # The CPU's kernels install themselves; nobody calls them by name.
    target_link_options(ebb_layers INTERFACE LINKER:-u,ebb_cpu_kernels)
  endif()
  target_link_options(ebb_layers INTERFACE LINKER:-u,ebb_cuda_devices)
endfunction()
