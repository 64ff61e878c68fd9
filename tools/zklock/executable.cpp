// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/executable.h"

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "tools/zklock/exit_codes.h"

namespace zklock {
namespace {

/// 0, or why the file cannot be executed.
int look_at(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(file.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

void check_executable(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (const int error = look_at(command)) throw_not_started(command, error);
    return;
  }
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable != nullptr ? variable : "/bin:/usr/bin");
  int error = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const int found = look_at((folder.empty() ? "." : folder) + "/" + command);
    if (found == 0) return;
    if (found == EACCES) error = found;
  }
  throw_not_started(command, command.empty() ? ENOENT : error);
}

void throw_not_started(const std::string& command, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  throw Failure(missing ? kCommandNotFound : kCannotBeExecuted,
                "'" + command + "' cannot be started: " + std::generic_category().message(error) +
                    (missing ? "; is the name right, and is it in PATH?" : "; is it a program, with chmod +x?") +
                    " No lock is held");
}

}  // namespace zklock
