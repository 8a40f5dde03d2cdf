# cmake -DPRINTER=ebb_print_ops -DFOLDER=include/ebb/ops -P CheckFunctions.cmake
#
# The header of each family must be what PRINTER says, but for comments and the white space that the formatter decides;
# functions.hpp must include them all.
execute_process(COMMAND "${PRINTER}" --families OUTPUT_VARIABLE families COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[a-z]+" families "${families}")
file(READ "${FOLDER}/functions.hpp" all)
foreach(family IN LISTS families)
  set(header "${FOLDER}/functions/${family}.hpp")
  execute_process(COMMAND "${PRINTER}" --cpp ${family} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
  file(READ "${header}" kept)
  foreach(text printed kept)
    string(REGEX REPLACE "//[^\n]*" "" ${text} "${${text}}")
    string(REGEX REPLACE "[ \t\r\n]+" "" ${text} "${${text}}")
  endforeach()
  if(NOT printed STREQUAL kept)
    message(FATAL_ERROR "${header} is not what the table says: renew it with "
                        "`ebb_print_ops --cpp ${family}` and format it")
  endif()
  string(FIND "${all}" "ebb/ops/functions/${family}.hpp" included)
  if(included EQUAL -1)
    message(FATAL_ERROR "functions.hpp does not include functions/${family}.hpp")
  endif()
endforeach()
