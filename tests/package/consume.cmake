# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs a program that uses zkrecipes as a stranger's project would, in a folder outside the source and build
# trees so that nothing can be found there by accident. KIND says how it gets the library:
#   find_package   installed, through the CMake package
#   pkg_config     installed, through zkrecipes.pc
#   subproject     add_subdirectory, as a shared library, in a project that hides symbols by default
cmake_minimum_required(VERSION 3.25)

include("${CMAKE_CURRENT_LIST_DIR}/work_dir.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/run.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/old_glog.cmake")
set(ENV{REUSE_OBJECTS_OF} "${BUILD_DIR}")
set(prefix "${work_dir}/prefix")
set(consumer_dir "${work_dir}/consumer")
separate_arguments(LAUNCHER UNIX_COMMAND "${LAUNCHER}")
file(COPY "${SOURCE_DIR}/tests/package/consumer" DESTINATION "${work_dir}")

if(KIND STREQUAL "subproject")
  set(options -DZKRECIPES_SOURCE_DIR=${SOURCE_DIR} -DBUILD_SHARED_LIBS=ON
    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON
    -DZKRECIPES_BUILD_PROMETHEUS=${PROMETHEUS}
    "-DCMAKE_CXX_COMPILER_LAUNCHER=${SOURCE_DIR}/tests/package/reuse_object")
else()
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}")
  old_glog("${prefix}")
  set(options -DCMAKE_PREFIX_PATH=${prefix})
endif()

if(KIND STREQUAL "pkg_config")
  file(GLOB_RECURSE pc_file "${prefix}/*/zkrecipes.pc")
  cmake_path(GET pc_file PARENT_PATH pc_dir)
  set(ENV{PKG_CONFIG_PATH} "${pc_dir}:$ENV{PKG_CONFIG_PATH}")
  execute_process(COMMAND pkg-config --cflags --libs "zkrecipes = ${VERSION}"
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET pc_dir PARENT_PATH lib_dir)
  separate_arguments(arguments UNIX_COMMAND
    "${CXX_FLAGS} ${consumer_dir}/main.cpp ${flags} -Wl,-rpath,${lib_dir}")
  run("${CXX}" -std=c++17 "-DEXPECTED_VERSION=\"${VERSION}\"" -o "${work_dir}/consumer_program" ${arguments})
  run(${LAUNCHER} "${work_dir}/consumer_program")
else()
  run("${CMAKE_COMMAND}" -S "${consumer_dir}" -B "${work_dir}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}" -DZKRECIPES_EXPECTED_VERSION=${VERSION}
    -DZKRECIPES_EXPECT_PROMETHEUS=${PROMETHEUS} ${options})
  run("${CMAKE_COMMAND}" --build "${work_dir}/build" --parallel 2)
  run(${LAUNCHER} "${work_dir}/build/consumer_program")
  if(PROMETHEUS)
    run(${LAUNCHER} "${work_dir}/build/consumer_metrics")
  endif()
endif()

file(REMOVE_RECURSE "${work_dir}")
