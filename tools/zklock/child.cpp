// SPDX-License-Identifier: Apache-2.0
#include "tools/zklock/child.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/zklock/credentials.h"
#include "tools/zklock/descriptor.h"
#include "tools/zklock/terminal.h"

namespace zklock {
namespace {

/// In the child. Returns only if the command cannot be executed.
void become(const ChildSpec& spec, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent died before the line above
  if (spec.takes_terminal) give_terminal_to(::getpid());
  permit_core_files_as_before();
  ::unsetenv(kAuthVariable);
  for (const std::string& each : spec.environment) {
    const std::size_t equals = each.find('=');
    ::setenv(each.substr(0, equals).c_str(), each.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& each : spec.command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::signal(SIGPIPE, spec.ignores_pipe ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &spec.signal_mask, nullptr);
  ::execvp(arguments[0], arguments.data());
}

}  // namespace

StartedChild start_child(const ChildSpec& spec) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {0, errno};
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return {0, errno};
  if (child == 0) {
    become(spec, parent);
    const int error = errno;
    if (::write(writing.get(), &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  }
  ::setpgid(child, child);  // whichever of the two is first
  writing.reset();
  int error = 0;
  // The other end is closed by a successful exec.
  if (::read(reading.get(), &error, sizeof error) != static_cast<ssize_t>(sizeof error)) return {child, 0};
  ::waitpid(child, nullptr, 0);
  return {0, error};
}

}  // namespace zklock
