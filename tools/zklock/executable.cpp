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
  // With a colon at the end of the last folder, too, so that an empty one there counts.
  std::istringstream folders(std::string(variable != nullptr ? variable : "/bin:/usr/bin") + ":");
  int error = ENOENT;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const int found = look_at((folder.empty() ? "." : folder) + "/" + command);
    if (found == 0) return;
    if (found == EACCES) error = found;
  }
  throw_not_started(command, command.empty() ? ENOENT : error);
}

void throw_not_started(const std::string& command, int error) {
  ExitCode code = kCannotBeExecuted;
  std::string hint = "; is it a program, with chmod +x?";
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      code = kCommandNotFound;
      hint = "; is the name right, and is it in PATH?";
      break;
    case E2BIG:
      hint = "; its arguments and the environment are too large together.";
      break;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      code = kFailure;
      hint = "; a limit of this machine or of this user is reached.";
      break;
    default:
      break;
  }
  throw Failure(code, "'" + command + "' cannot be started: " + std::generic_category().message(error) + hint +
                          " No lock is held");
}

}  // namespace zklock
