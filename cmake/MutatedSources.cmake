# SPDX-License-Identifier: Apache-2.0

# zkrecipes_mutated_sources(<variable> <name> (<file> <from> <to>)...): copies of source files of the library with faults
# seeded into them. A program that lists them as sources has their objects in front of the library, whose own are then
# not used. Several changes of one file stand one after the other.
# CMake's lists allow neither semicolons nor empty texts in the changes, and Ninja no line breaks.
function(zkrecipes_mutated_sources variable name)
  set(sources)
  set(rest ${ARGN})
  set(step 0)
  set(last_file)
  while(rest)
    list(POP_FRONT rest file from to)
    get_filename_component(part "${file}" NAME_WE)
    set(input "${PROJECT_SOURCE_DIR}/${file}")
    if(file STREQUAL last_file)
      list(POP_BACK sources input)
    endif()
    set(last_file "${file}")
    math(EXPR step "${step} + 1")
    set(mutated "${CMAKE_CURRENT_BINARY_DIR}/${name}.${step}.${part}.cpp")
    add_custom_command(
      OUTPUT "${mutated}"
      COMMAND "${CMAKE_COMMAND}" "-DIN=${input}" "-DOUT=${mutated}" "-DFROM=${from}" "-DTO=${to}" "-DNAME=${name}"
        -P "${PROJECT_SOURCE_DIR}/cmake/mutate.cmake"
      DEPENDS "${input}" "${PROJECT_SOURCE_DIR}/cmake/mutate.cmake"
      COMMENT "Seeding a fault: ${name}"
      VERBATIM)
    list(APPEND sources "${mutated}")
  endwhile()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
