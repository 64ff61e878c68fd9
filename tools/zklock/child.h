// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <string>
#include <sys/types.h>
#include <vector>

namespace zklock {

struct ChildSpec {
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< to add, "NAME=value"
  sigset_t signal_mask{};
  bool ignores_pipe = false;  ///< SIGPIPE
  bool takes_terminal = false;
};

struct StartedChild {
  pid_t process = 0;
  int error = 0;  ///< if not 0, why it could not be started; nothing is left of it then
};

/// Starts a command in a process group of its own, as a child that is killed when this thread ends. It has standard
/// input, output and error and those descriptors that zklock itself was started with; none that zklock has opened.
/// kAuthVariable is taken out of its environment.
StartedChild start_child(const ChildSpec& spec);

}  // namespace zklock
