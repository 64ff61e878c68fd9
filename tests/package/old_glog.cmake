# SPDX-License-Identifier: Apache-2.0
#
# old_glog(<prefix>): puts a glog there that is too old. Whoever uses it instead of the one of this machine fails.
function(old_glog prefix)
  file(WRITE "${prefix}/lib/cmake/glog/glog-config.cmake" "message(FATAL_ERROR \"glog 0.5 is taken\")\n")
  file(WRITE "${prefix}/lib/cmake/glog/glog-config-version.cmake" [[
set(PACKAGE_VERSION 0.5.0)
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
]])
endfunction()
