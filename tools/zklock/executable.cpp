// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/executable.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
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

/// What the first line of a script names, as the kernel reads it; empty if it names none.
std::string interpreter_of(const std::string& file) {
  std::array<char, 255> beginning{};
  std::ifstream stream(file, std::ios::binary);
  stream.read(beginning.data(), beginning.size());
  const std::string text(beginning.data(), static_cast<std::size_t>(stream.gcount()));
  const std::string line = text.substr(0, text.find('\n'));
  if (line.rfind("#!", 0) != 0) return "";
  const std::size_t begin = line.find_first_not_of(" \t", 2);
  if (begin == std::string::npos) return "";
  return line.substr(begin, line.find_first_of(" \t", begin) - begin);
}

/// Of a script; empty if it exists, or there is none. The kernel's error for it is the one for a file that does not
/// exist.
std::string missing_interpreter_of(const std::string& file) {
  std::string interpreter = interpreter_of(file);
  if (interpreter.empty() || ::access(interpreter.c_str(), F_OK) == 0 || errno != ENOENT) return "";
  return interpreter;
}

[[noreturn]] void throw_without_interpreter(const std::string& command, const std::string& interpreter) {
  throw Failure(kCannotBeExecuted, "'" + command + "' cannot be started: the interpreter in its first line, '" +
                                       interpreter + "', does not exist" +
                                       (interpreter.back() == '\r' ? "; its lines end in CR LF instead of LF" : "") +
                                       ". No lock is held");
}

}  // namespace

void check_executable(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (const int error = look_at(command)) throw_not_started(command, error);
    const std::string missing = missing_interpreter_of(command);
    if (!missing.empty()) throw_without_interpreter(command, missing);
    return;
  }
  const char* variable = std::getenv("PATH");
  // With a colon at the end of the last folder, too, so that an empty one there counts.
  std::istringstream folders(std::string(variable != nullptr ? variable : "/bin:/usr/bin") + ":");
  int error = ENOENT;
  std::string missing;  // the first one; the C library looks for the command in later folders, too, then
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + command;
    const int found = look_at(file);
    if (found == EACCES) error = found;
    if (found != 0) continue;
    const std::string interpreter = missing_interpreter_of(file);
    if (interpreter.empty()) return;
    if (missing.empty()) missing = interpreter;
  }
  if (!missing.empty()) throw_without_interpreter(command, missing);
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
