# SPDX-License-Identifier: Apache-2.0

# cmake -DIN=file -DOUT=file -DFROM=text -DTO=text -DNAME=mutant -P mutate.cmake: a copy of a source file with a fault
# seeded into it. Fails when the text is not there, so that a mutation cannot silently become none.
file(READ "${IN}" source)
string(FIND "${source}" "${FROM}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "mutation ${NAME}: '${FROM}' is not in ${IN} any more; adapt the mutant")
endif()
string(REPLACE "${FROM}" "${TO}" source "${source}")
file(WRITE "${OUT}" "${source}")
