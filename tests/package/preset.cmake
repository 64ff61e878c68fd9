# SPDX-License-Identifier: Apache-2.0
#
# The preset "package" compiles the library and zklock and nothing else, on a machine without a JDK and the packages of the tests.
# A glog that is too old is passed over.
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/work_dir.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/old_glog.cmake")
old_glog("${work_dir}/old")
set(absent)
foreach(package IN ITEMS GTest benchmark Java)
  list(APPEND absent -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
execute_process(
  COMMAND "${CMAKE_COMMAND}" --preset package -B "${work_dir}" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_PREFIX_PATH=${work_dir}/old" ${absent}
  WORKING_DIRECTORY "${SOURCE_DIR}" RESULT_VARIABLE result OUTPUT_QUIET)
if(result EQUAL 0)
  file(READ "${work_dir}/compile_commands.json" commands)
endif()
file(REMOVE_RECURSE "${work_dir}")
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the preset \"package\" cannot be configured")
endif()
string(JSON count LENGTH "${commands}")
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON file GET "${commands}" ${i} file)
  # Relative, because the path of the clone may have characters that mean something else in a regular expression.
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE name)
  if(NOT name MATCHES "^(connection|recipes|tools)/")
    message(FATAL_ERROR "the preset \"package\" compiles ${file}")
  endif()
endforeach()
