# Uses ccache where there is one, unless the caller chose a launcher.
find_program(EBB_CCACHE ccache)
if(EBB_CCACHE)
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${EBB_CCACHE}")
    endif()
  endforeach()
endif()
