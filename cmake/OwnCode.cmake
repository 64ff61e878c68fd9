# SPDX-License-Identifier: Apache-2.0

# zkrecipes_own_code(<target>): what holds for each target whose sources are ours. Everything is PRIVATE, so that
# nothing of it reaches programs that link the library.
function(zkrecipes_own_code target)
  target_compile_features(${target} PRIVATE cxx_std_17)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align -Wunused
    -Wold-style-cast -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
    # What connection/thread_annotations.h says about mutexes; GCC knows nothing of the kind.
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
    $<$<BOOL:${ZKRECIPES_WARNINGS_AS_ERRORS}>:-Werror>)
  # GCC reports false positives of this kind in headers of Boost and the standard library once code is instrumented.
  if(ZKRECIPES_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# zkrecipes_visible(<target>): a shared library exports what its version script names, also in a project that hides symbols by
# default. A version script cannot export a hidden symbol. A static library keeps what the project has chosen, because it
# becomes a part of the project's own binaries.
function(zkrecipes_visible target)
  if(BUILD_SHARED_LIBS)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  endif()
endfunction()

# zkrecipes_finds_library(<target> <full path of the folder where it is installed>): once installed, the target finds the
# shared library of zkrecipes by a path relative to itself. In /usr, the dynamic linker looks there anyway, and Debian
# wants no such path.
function(zkrecipes_finds_library target folder)
  if(BUILD_SHARED_LIBS AND NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    file(RELATIVE_PATH way "${folder}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${way}")
  endif()
endfunction()
