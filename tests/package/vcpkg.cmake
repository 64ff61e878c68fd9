# SPDX-License-Identifier: Apache-2.0
#
# The port for vcpkg, as far as it can be checked without vcpkg: its manifest, and its portfile with stand-ins. The C client of
# that build is a stand-in as well, under the names that vcpkg's port of it has.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/work_dir.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
set(port_dir "${SOURCE_DIR}/packaging/vcpkg/zkrecipes")

macro(expect_no_more function)
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${function}: ${arg_UNPARSED_ARGUMENTS} ${arg_KEYWORDS_MISSING_VALUES}")
  endif()
endmacro()
function(expect_file file)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "there is no ${file}")
  endif()
endfunction()
# configure_with(<source folder> <option>...): every option must be one that the project knows.
function(configure_with source_dir)
  file(REMOVE_RECURSE "${work_dir}/build")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${source_dir}" -B "${work_dir}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
      "-Dunofficial-zookeeper_DIR=${work_dir}" ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0 OR output MATCHES "not used by the project:[^A-Z]*ZKRECIPES")
    message(FATAL_ERROR "the options of the portfile do not fit: ${ARGN}\n${output}")
  endif()
  if(NOT output MATCHES "Found ZooKeeper: unofficial::zookeeper::zookeeper ")
    message(FATAL_ERROR "the C client of vcpkg was not used\n${output}")
  endif()
endfunction()

# The manifest.
file(READ "${port_dir}/vcpkg.json" manifest)
string(JSON name GET "${manifest}" name)
string(JSON version GET "${manifest}" version)
if(NOT name STREQUAL "zkrecipes" OR NOT version STREQUAL VERSION)
  message(FATAL_ERROR "vcpkg.json says ${name} ${version}, the library is zkrecipes ${VERSION}")
endif()
foreach(field IN ITEMS description license dependencies)
  string(JSON value GET "${manifest}" ${field})
endforeach()
string(JSON dependencies GET "${manifest}" dependencies)
foreach(dependency IN ITEMS boost-chrono boost-thread glog zookeeper vcpkg-cmake vcpkg-cmake-config)
  if(NOT dependencies MATCHES "\"${dependency}\"")
    message(FATAL_ERROR "vcpkg.json does not depend on ${dependency}")
  endif()
endforeach()

# The portfile, without and with its feature.
file(WRITE "${work_dir}/unofficial-zookeeperConfig.cmake" [[
find_library(zookeeper_mt zookeeper_mt REQUIRED)
add_library(unofficial::zookeeper::zookeeper UNKNOWN IMPORTED)
set_target_properties(unofficial::zookeeper::zookeeper PROPERTIES IMPORTED_LOCATION "${zookeeper_mt}")
]])
include("${CMAKE_CURRENT_LIST_DIR}/vcpkg_functions.cmake")
set(PORT zkrecipes)
set(CURRENT_PACKAGES_DIR "${work_dir}/package")
set(all_features core)
if(HAS_ZKLOCK)
  list(APPEND all_features tools)
endif()
foreach(FEATURES IN LISTS all_features)
  include("${port_dir}/portfile.cmake")
endforeach()
expect_file("${CURRENT_PACKAGES_DIR}/share/zkrecipes/usage")
file(GLOB_RECURSE pc_files "${CURRENT_PACKAGES_DIR}/*.pc")
if(pc_files)
  message(FATAL_ERROR "zkrecipes.pc names -lzookeeper_mt, which vcpkg does not have: ${pc_files}")
endif()
get_property(features GLOBAL PROPERTY declared_features)
foreach(feature IN LISTS features)
  string(JSON value GET "${manifest}" features ${feature})
endforeach()

# The library compiles with the headers that were found.
run("${CMAKE_COMMAND}" --build "${work_dir}/build" --target CMakeFiles/zkrecipes.dir/connection/zookeeper_errors.cpp.o)
file(REMOVE_RECURSE "${work_dir}")
