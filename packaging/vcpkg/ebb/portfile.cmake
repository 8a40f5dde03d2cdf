# Ebb from the checkout that this port lies in: vcpkg install ebb --overlay-ports=packaging/vcpkg
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" "dynamic" EBB_SHARED)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DEBB_SHARED=${EBB_SHARED} -DEBB_CPU=OFF -DEBB_BUILD_TESTS=OFF -DEBB_BUILD_EXAMPLES=OFF
          -DEBB_BUILD_TOOL=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME ebb CONFIG_PATH lib/cmake/ebb)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
