# SPDX-License-Identifier: Apache-2.0
#
# Stand-ins for the functions of vcpkg that the portfile calls. They check what they are given, configure for real, and install
# what the tested build has installed. A function or an argument that is not known here is an error.

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  expect_no_more(vcpkg_check_features)
  set(options)
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    set(value OFF)
    if(feature IN_LIST FEATURES)
      set(value ON)
    endif()
    list(APPEND options "-D${option}=${value}")
    set_property(GLOBAL APPEND PROPERTY declared_features "${feature}")
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  expect_no_more(vcpkg_cmake_configure)
  configure_with("${arg_SOURCE_PATH}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "")
  expect_no_more(vcpkg_cmake_install)
  # vcpkg builds for release and for debugging, and installs both.
  foreach(prefix IN ITEMS "${CURRENT_PACKAGES_DIR}" "${CURRENT_PACKAGES_DIR}/debug")
    run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
  endforeach()
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  expect_no_more(vcpkg_cmake_config_fixup)
  expect_file("${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}/zkrecipes-config.cmake")
endfunction()

function(vcpkg_copy_tools)
  cmake_parse_arguments(PARSE_ARGV 0 arg "AUTO_CLEAN" "" "TOOL_NAMES")
  expect_no_more(vcpkg_copy_tools)
  foreach(tool IN LISTS arg_TOOL_NAMES)
    expect_file("${CURRENT_PACKAGES_DIR}/bin/${tool}")
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  expect_no_more(vcpkg_install_copyright)
  foreach(file IN LISTS arg_FILE_LIST)
    expect_file("${file}")
  endforeach()
endfunction()
