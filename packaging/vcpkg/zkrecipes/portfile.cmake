# SPDX-License-Identifier: Apache-2.0
#
# An overlay port, used from a clone: vcpkg install zkrecipes --overlay-ports=<clone>/packaging/vcpkg
# tests/package runs it with stand-ins for vcpkg's functions. It has not been run by vcpkg itself.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
  FEATURES
    tools ZKRECIPES_BUILD_TOOLS)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DZKRECIPES_BUILD_TESTS=OFF
    -DZKRECIPES_BUILD_EXAMPLES=OFF
    -DZKRECIPES_PRECOMPILE_HEADERS=OFF
    -DZKRECIPES_WARNINGS_AS_ERRORS=OFF
    ${FEATURE_OPTIONS})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/zkrecipes)
# zkrecipes.pc names -lzookeeper_mt, but vcpkg's static C client has another name, and no .pc file of its own.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib/pkgconfig" "${CURRENT_PACKAGES_DIR}/debug/lib/pkgconfig")
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES zklock AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
