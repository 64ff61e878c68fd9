// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/process_name.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/prctl.h>

namespace zklock {

void rename_process(const char* name) {
  ::prctl(PR_SET_NAME, name);
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // Behind the name, which may contain anything, come the fields 3 to 47 of proc(5), then arg_start and arg_end.
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 48; ++field) fields >> skipped;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  if (!(fields >> begin >> end) || begin == 0 || end <= begin) return;
  auto* arguments = reinterpret_cast<char*>(begin);  // NOLINT(performance-no-int-to-ptr): the kernel gives a number
  const std::size_t size = end - begin;
  std::memset(arguments, 0, size);
  // The last byte stays NUL: otherwise the kernel takes the environment for more of the arguments.
  std::string_view(name).copy(arguments, size - 1);
}

}  // namespace zklock
