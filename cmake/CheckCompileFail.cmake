# cmake -DCOMPILER=... -DFLAGS=... -DSOURCE=... -P CheckCompileFail.cmake
#
# SOURCE must be accepted with EBB_MUST_COMPILE and rejected without: the first shows that the
# second is for the misuse and not for a missing header.
function(compile result)
  execute_process(
    COMMAND "${COMPILER}" ${FLAGS} ${ARGN} -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE status
    ERROR_VARIABLE errors
    OUTPUT_QUIET)
  set(${result} "${status}" PARENT_SCOPE)
  set(errors "${errors}" PARENT_SCOPE)
endfunction()

compile(status -DEBB_MUST_COMPILE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} must compile with EBB_MUST_COMPILE:\n${errors}")
endif()
compile(status)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} must be rejected without EBB_MUST_COMPILE, and compiles")
endif()
