# SPDX-License-Identifier: Apache-2.0
#
# Sets work_dir to a new folder below TMPDIR, outside the source and build trees. It is not created here.
set(work_dir "$ENV{TMPDIR}")
if(NOT work_dir)
  set(work_dir /tmp)
endif()
string(RANDOM LENGTH 10 suffix)
string(APPEND work_dir "/zkrecipes-package-${suffix}")
