# SPDX-License-Identifier: Apache-2.0

# Most of the time of a build goes into reading the same headers of Boost, GoogleTest and the standard library again and
# again. With this option they are read once per kind of target. Few headers of our own are in it: the
# public ones for programs that use them like any user, and the fixture of the tests against servers.
#
# A file that lacks an include compiles all the same then. The preset "clang" does without, and notices; so do the tests
# that compile each public header alone. Only for GCC: clang refuses a precompiled header where GCC reads the text instead,
# for instance when a target adds an option. With ccache, set CCACHE_SLOPPINESS=pch_defines,time_macros.
set(default OFF)
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(default ON)
endif()
option(ZKRECIPES_PRECOMPILE_HEADERS "Read common headers once instead of once per source file" ${default})

# zkrecipes_precompiled(<kind> OPTIONS <option>... HEADERS <header>... LIBRARIES <target>...): headers for targets that are
# compiled with these options.
function(zkrecipes_precompiled kind)
  if(NOT ZKRECIPES_PRECOMPILE_HEADERS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "OPTIONS;HEADERS;LIBRARIES")
  set(owner zkrecipes_precompiled_${kind})
  set(source "${PROJECT_BINARY_DIR}/${owner}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Exists because a target needs a source.\n")
  add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${source}")
  zkrecipes_own_code(${owner})
  target_compile_options(${owner} PRIVATE ${arg_OPTIONS})
  target_link_libraries(${owner} PRIVATE ${arg_LIBRARIES})
  target_precompile_headers(${owner} PRIVATE ${arg_HEADERS})
endfunction()

# zkrecipes_use_precompiled(<target> <kind>): the target also gets the definitions of the kind's libraries. GCC reads the
# text instead where macros or options of a target do not fit, which takes seconds for each file, and warns of it: an error
# in our own build. A target with a macro that these headers look at, and that its kind does not have, needs the library
# with that macro in its kind's LIBRARIES.
function(zkrecipes_use_precompiled target kind)
  if(ZKRECIPES_PRECOMPILE_HEADERS)
    set(owner zkrecipes_precompiled_${kind})
    target_precompile_headers(${target} REUSE_FROM ${owner})
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${owner},COMPILE_DEFINITIONS>)
  endif()
endfunction()
