# cmake -DPRINTER=ebb_print_ops -DHEADER=functions.hpp -P CheckFunctions.cmake
#
# HEADER must be what PRINTER says, but for the white space that the formatter decides.
execute_process(COMMAND "${PRINTER}" --cpp OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ "${HEADER}" kept)
foreach(text printed kept)
  string(REGEX REPLACE "//[^\n]*" "" ${text} "${${text}}")
  string(REGEX REPLACE "[ \t\r\n]+" "" ${text} "${${text}}")
endforeach()
if(NOT printed STREQUAL kept)
  message(FATAL_ERROR "${HEADER} is not what the table says: renew it with "
                      "`ebb_print_ops --cpp` and format it")
endif()
