# SPDX-License-Identifier: Apache-2.0

# zkrecipes_code_blocks(<page.md> <folder> <variable> [--docs-servers]): writes the blocks of C++ in a page to <folder>/<page>_1.inc and so on,
# and sets the variable to the list of their names. A block with a main() is <page>_1.cpp instead. For tests that include and run
# them; tests/docs/check_blocks fails when none does. With --docs-servers, servers that the page names are replaced by
# docs_servers().
function(zkrecipes_code_blocks page folder variable)
  set(extract "${PROJECT_SOURCE_DIR}/tests/docs/extract_blocks")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${page}" "${extract}" "${PROJECT_SOURCE_DIR}/tests/docs/code_blocks.py")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" -B "${extract}" "${PROJECT_SOURCE_DIR}" "${page}" "${folder}" ${ARGN}
    OUTPUT_VARIABLE names ERROR_VARIABLE problem RESULT_VARIABLE result OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the blocks of ${page}: ${problem}")
  endif()
  string(REPLACE "\n" ";" names "${names}")
  set(${variable} "${names}" PARENT_SCOPE)
endfunction()
