# SPDX-License-Identifier: Apache-2.0

# Counts how often each line runs; scripts/coverage makes a report of it.
option(ZKRECIPES_COVERAGE "Count how often lines run (GCC and clang)" OFF)
if(ZKRECIPES_COVERAGE)
  # Atomic: threads of one program count the same lines.
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage)
endif()
