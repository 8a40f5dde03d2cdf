# `cmake --install` gives a prefix in which find_package(ebb) and pkg-config work. tests/install proves it.
include(CMakePackageConfigHelpers)

file(GLOB_RECURSE EBB_PUBLIC_HEADERS CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.h"
     "${PROJECT_SOURCE_DIR}/include/*.hpp")
target_sources(ebb PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES
                          ${EBB_PUBLIC_HEADERS})

install(
  TARGETS ebb
  EXPORT ebbTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/ebb")
install(EXPORT ebbTargets NAMESPACE ebb:: DESTINATION ${package_dir})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/ebbConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/ebbConfig.cmake"
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/ebbConfig.cmake" "${PROJECT_BINARY_DIR}/ebbConfigVersion.cmake"
        DESTINATION ${package_dir})
configure_file("${PROJECT_SOURCE_DIR}/cmake/ebb.pc.in" "${PROJECT_BINARY_DIR}/ebb.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/ebb.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
