# SPDX-License-Identifier: Apache-2.0
#
# Finds ZooKeeper's multi-threaded C client.
#
#   ZooKeeper::zookeeper_mt   the library, with the definitions its header needs
#   ZooKeeper_VERSION         from the header
#   ZooKeeper_HAS_TLS         true when zookeeper_init_ssl is declared and the library has it
#
# Hints: ZooKeeper_ROOT, as for each find module. The packages of vcpkg (zookeeper) and of Conan (zookeeper-client-c) are
# preferred, because they are found only where a build asks for them.

find_package(unofficial-zookeeper CONFIG QUIET)
find_package(zookeeper-client-c CONFIG QUIET)
mark_as_advanced(unofficial-zookeeper_DIR zookeeper-client-c_DIR)
if(TARGET unofficial::zookeeper::zookeeper)
  set(ZooKeeper_LIBRARY unofficial::zookeeper::zookeeper)
elseif(TARGET zookeeper-client-c::zookeeper-client-c)
  set(ZooKeeper_LIBRARY zookeeper-client-c::zookeeper-client-c)
  # That package has the headers without their folder.
  find_path(ZooKeeper_FLAT_INCLUDE_DIR zookeeper.h PATHS ${zookeeper-client-c_INCLUDE_DIRS} NO_DEFAULT_PATH)
  mark_as_advanced(ZooKeeper_FLAT_INCLUDE_DIR)
  if(ZooKeeper_FLAT_INCLUDE_DIR)
    set(ZooKeeper_INCLUDE_DIR "${CMAKE_CURRENT_BINARY_DIR}/zookeeper_headers")
    file(MAKE_DIRECTORY "${ZooKeeper_INCLUDE_DIR}")
    file(CREATE_LINK "${ZooKeeper_FLAT_INCLUDE_DIR}" "${ZooKeeper_INCLUDE_DIR}/zookeeper" SYMBOLIC)
  endif()
endif()
if(NOT ZooKeeper_INCLUDE_DIR)
  find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
endif()
if(NOT ZooKeeper_LIBRARY)
  find_library(ZooKeeper_LIBRARY zookeeper_mt)
endif()
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY)

set(ZooKeeper_VERSION)
if(ZooKeeper_INCLUDE_DIR)
  set(_version_header "${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h")
  if(EXISTS "${_version_header}")
    file(STRINGS "${_version_header}" _version_lines REGEX "#define ZOO_[A-Z_]*VERSION ")
    if(_version_lines MATCHES "ZOO_VERSION \"([0-9.]+)")
      set(ZooKeeper_VERSION "${CMAKE_MATCH_1}")
    elseif(_version_lines MATCHES "ZOO_MAJOR_VERSION ([0-9]+).*ZOO_MINOR_VERSION ([0-9]+).*ZOO_PATCH_VERSION ([0-9]+)")
      set(ZooKeeper_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
    unset(_version_lines)
  endif()
  unset(_version_header)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZooKeeper
  REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR
  VERSION_VAR ZooKeeper_VERSION
  REASON_FAILURE_MESSAGE "On Debian: apt-get install libzookeeper-mt-dev")

if(ZooKeeper_FOUND)
  # The header hides the function behind the macro of the client's own configure script, so it can be declared where the
  # library lacks it, and the other way round. Only a program that links tells.
  include(CMakePushCheckState)
  include(CheckCXXSourceCompiles)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_INCLUDES "${ZooKeeper_INCLUDE_DIR}")
  set(CMAKE_REQUIRED_DEFINITIONS -DTHREADED -DHAVE_OPENSSL_H)
  set(CMAKE_REQUIRED_LIBRARIES "${ZooKeeper_LIBRARY}")
  set(CMAKE_REQUIRED_QUIET ON)
  check_cxx_source_compiles([[
    #include <zookeeper/zookeeper.h>
    int main() { return zookeeper_init_ssl("", "", nullptr, 0, nullptr, nullptr, 0) == nullptr; }
  ]] ZooKeeper_HAS_TLS)
  cmake_pop_check_state()

  if(NOT TARGET ZooKeeper::zookeeper_mt)
    if(TARGET "${ZooKeeper_LIBRARY}")
      add_library(ZooKeeper::zookeeper_mt INTERFACE IMPORTED)
      target_link_libraries(ZooKeeper::zookeeper_mt INTERFACE "${ZooKeeper_LIBRARY}")
    else()
      add_library(ZooKeeper::zookeeper_mt UNKNOWN IMPORTED)
      set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES IMPORTED_LOCATION "${ZooKeeper_LIBRARY}")
    endif()
    set_target_properties(ZooKeeper::zookeeper_mt PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${ZooKeeper_INCLUDE_DIR}"
      INTERFACE_COMPILE_DEFINITIONS "THREADED$<$<BOOL:${ZooKeeper_HAS_TLS}>:;HAVE_OPENSSL_H>")
  endif()
endif()
