# Uses ccache where there is one, unless the caller chose a launcher. Paths below the source folder are hashed as
# relative ones, so that a second clone or work tree finds what the first has compiled.
find_program(EBB_CCACHE ccache)
if(EBB_CCACHE)
  set(launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true
      CCACHE_SLOPPINESS=pch_defines,time_macros "${EBB_CCACHE}")
  foreach(language C CXX)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${launcher})
    endif()
  endforeach()
endif()
