# SPDX-License-Identifier: Apache-2.0
#
# run(<command>...): fails the test if the command fails, and leaves work_dir for inspection.
function(run)
  list(JOIN ARGN " " shown)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${shown}\nleft for inspection: ${work_dir}")
  endif()
endfunction()
