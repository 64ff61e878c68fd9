# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/zkrecipes")
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

# A static library hands its private dependencies on to the program that links it; a shared one has them resolved.
get_target_property(library_type zkrecipes TYPE)
if(library_type STREQUAL "STATIC_LIBRARY")
  set(ZKRECIPES_IS_STATIC TRUE)
  # In Libs, not in Libs.private: there is no shared variant beside it, and plain "pkg-config --libs" should link.
  set(ZKRECIPES_PC_REQUIRES "libglog")
  set(ZKRECIPES_PC_LIBS " -lzookeeper_mt")
else()
  set(ZKRECIPES_IS_STATIC FALSE)
  set(ZKRECIPES_PC_REQUIRES "")
  set(ZKRECIPES_PC_LIBS "")
endif()

install(TARGETS zkrecipes EXPORT zkrecipes-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT zkrecipes_development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    COMPONENT zkrecipes_runtime NAMELINK_COMPONENT zkrecipes_development
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT zkrecipes_runtime
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT zkrecipes_development)
install(EXPORT zkrecipes-targets NAMESPACE zkrecipes:: DESTINATION "${package_dir}" COMPONENT zkrecipes_development)

# The optional component: find_package(zkrecipes COMPONENTS prometheus). Its targets are in a file of their own, so that a
# program that does not ask for it needs no prometheus-cpp.
if(ZKRECIPES_BUILD_PROMETHEUS)
  install(TARGETS zkrecipes_prometheus EXPORT zkrecipes-prometheus-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT zkrecipes_prometheus
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT zkrecipes_prometheus
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT zkrecipes_prometheus)
  install(EXPORT zkrecipes-prometheus-targets NAMESPACE zkrecipes:: DESTINATION "${package_dir}"
    COMPONENT zkrecipes_prometheus)
  install(FILES "${PROJECT_SOURCE_DIR}/prometheus/grafana.json" DESTINATION "${CMAKE_INSTALL_DATADIR}/zkrecipes"
    COMPONENT zkrecipes_prometheus)
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/zkrecipes-config.cmake.in"
  "${PROJECT_BINARY_DIR}/zkrecipes-config.cmake"
  INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/zkrecipes-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/zkrecipes-config.cmake"
  "${PROJECT_BINARY_DIR}/zkrecipes-config-version.cmake"
  DESTINATION "${package_dir}" COMPONENT zkrecipes_development)
if(ZKRECIPES_IS_STATIC)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindZooKeeper.cmake"
    DESTINATION "${package_dir}" COMPONENT zkrecipes_development)
endif()

# Relative to the file itself, so that "cmake --install --prefix" and moved trees work.
file(RELATIVE_PATH ZKRECIPES_PC_PREFIX "/prefix/${pkgconfig_dir}" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/zkrecipes.pc.in" "${PROJECT_BINARY_DIR}/zkrecipes.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/zkrecipes.pc" DESTINATION "${pkgconfig_dir}" COMPONENT zkrecipes_development)

if(PROJECT_IS_TOP_LEVEL)
  include(DebianPackages)
endif()
