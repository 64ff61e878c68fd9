# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR "zkrecipes has included a module of the project that uses it: ${CMAKE_CURRENT_LIST_FILE}")
