# examples/NAME.cpp, or all of examples/NAME/*.c -> build/<preset>/examples/NAME, linked as a user
# would link it. ctest runs each (label: examples).
function(ebb_add_example name library)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${library} ebb_build_options)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/examples")
  if(EBB_BUILD_TESTS)
    add_test(NAME example_${name} COMMAND ${name} ${example_arguments_${name}}
             WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(example_${name} PROPERTIES LABELS examples)
  endif()
endfunction()

# A few steps; `make soak` trains it.
set(example_arguments_transformer "${PROJECT_SOURCE_DIR}/docs/jvm.md" 12)

file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.cpp")
foreach(source IN LISTS examples)
  get_filename_component(name "${source}" NAME_WE)
  if(name STREQUAL "demo_careless_host")
    # The first picture of `make demo` waits for three layers, not for all of libebb.
    ebb_add_example(${name} ebb_tensor "${source}")
  else()
    ebb_add_example(${name} ebb::ebb "${source}")
  endif()
endforeach()
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*/*.c")
foreach(source IN LISTS sources)
  cmake_path(GET source PARENT_PATH folder)
  get_filename_component(name "${folder}" NAME)
  list(APPEND folders ${name})
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(name IN LISTS folders)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/${name}/*.c")
  ebb_add_example(${name} ebb::ebb ${sources})
endforeach()

# What they say to those who ask, and to those who are wrong.
if(EBB_BUILD_TESTS AND NOT CMAKE_CROSSCOMPILING)
  find_program(EBB_PYTHON NAMES python3 REQUIRED)
  add_test(NAME examples_usage
           COMMAND ${EBB_PYTHON} ${PROJECT_SOURCE_DIR}/tests/examples/usage_test.py $<TARGET_FILE:mnist>
                   $<TARGET_FILE:transformer>)
  set_tests_properties(examples_usage PROPERTIES LABELS examples)
endif()
