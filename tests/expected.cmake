# What the operations must give, computed by NumPy and SciPy when the tests are built.
# The distribution's Python is the one that its NumPy is for.
find_program(EBB_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(EBB_PYTHON NAMES python3 REQUIRED)
file(GLOB expected_families CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/expected/*.py)
# PyTorch's are in the tree: tests/expected/gradients.jsonl.
list(FILTER expected_families EXCLUDE REGEX "/(case|__init__|torch_gradients)\\.py$")
set(expected_files "")
foreach(module IN LISTS expected_families)
  get_filename_component(family "${module}" NAME_WE)
  set(file "${PROJECT_BINARY_DIR}/expected/${family}.jsonl")
  add_custom_command(
    OUTPUT "${file}"
    COMMAND ${EBB_PYTHON} -B "${PROJECT_SOURCE_DIR}/tools/make_expected.py" ${family} "${file}"
    DEPENDS "${module}" "${PROJECT_SOURCE_DIR}/tools/make_expected.py"
            "${PROJECT_SOURCE_DIR}/tools/expected/case.py"
    COMMENT "Expected results: ${family}")
  list(APPEND expected_files "${file}")
endforeach()
add_custom_target(ebb_expected DEPENDS ${expected_files})
set(list "${PROJECT_BINARY_DIR}/expected/list.txt")
list(JOIN expected_files "\n" lines)
file(CONFIGURE OUTPUT "${list}" CONTENT "@lines@\n" @ONLY)
foreach(suite test_conformance test_fault)
  add_dependencies(${suite} ebb_expected)
  target_compile_definitions(${suite} PRIVATE EBB_EXPECTED_LIST="${list}")
endforeach()

set_source_files_properties(
  conformance/grad_torch.cpp
  PROPERTIES COMPILE_DEFINITIONS "EBB_TORCH_GRADIENTS=\"${CMAKE_CURRENT_LIST_DIR}/expected/gradients.jsonl\"")

# Files that NumPy writes, for tests/conformance/ops_files.cpp.
set(files "${PROJECT_BINARY_DIR}/expected/files")
add_custom_command(
  OUTPUT "${files}/list.txt"
  COMMAND ${EBB_PYTHON} -B "${PROJECT_SOURCE_DIR}/tools/make_files.py" "${files}"
  DEPENDS "${PROJECT_SOURCE_DIR}/tools/make_files.py"
  COMMENT "Files as NumPy writes them")
add_custom_target(ebb_files DEPENDS "${files}/list.txt")
add_dependencies(test_conformance ebb_files)
target_compile_definitions(test_conformance PRIVATE EBB_FILES="${files}")
