# libebb_abi.so: the objects of src/capi alone, with their debug information. tools/check_abi.py reads
# functions and types from it, in seconds; all of libebb would take minutes. Nothing can be linked with it.
add_library(ebb_abi SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:ebb_capi>)
set_target_properties(ebb_abi PROPERTIES LINKER_LANGUAGE CXX)
